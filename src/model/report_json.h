/*
 * report_json: what report.json holds, for a report that holds others.
 */
#ifndef ABBA_MODEL_REPORT_JSON_H
#define ABBA_MODEL_REPORT_JSON_H

#include "model/report_shape.h"

extern const struct shape report_shape; /* of struct report */

#endif

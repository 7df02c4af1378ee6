#include "model/lab_report.h"
#include "model/report_json.h"

#define OWNER lab_result
static const struct member result_members[] = {
    {"comparison", KIND_TEXT, AT(comparison), 0, NULL},
    {"verdict", KIND_VERDICT, AT(verdict), 0, NULL},
    {"state", KIND_TEXT, AT(state), 0, NULL},
    {"folder", KIND_TEXT, AT(folder), 0, NULL},
    {"digest", KIND_MAYBE, AT(digest), 0, NULL},
    {"plan_sha256", KIND_TEXT, AT(plan_sha256), 0, NULL},
    {"runs_done", KIND_COUNT64, AT(runs_done), 0, NULL},
    {"runs_planned", KIND_COUNT64, AT(runs_planned), 0, NULL},
    {"aa", KIND_BOOL, AT(aa), 0, NULL},
    {"description", KIND_MAYBE, AT(description), 0, NULL},
    {"report", KIND_OBJECT, AT(report), 0, &report_shape},
};
static const struct shape result_shape = SHAPE(result_members, lab_result);
#undef OWNER

#define OWNER lab_worst
static const struct member worst_members[] = {
    {"metric", KIND_TEXT, AT(metric), 0, NULL},
    {"unit", KIND_TEXT, AT(unit), 0, NULL},
    {"better", KIND_BETTER, AT(better), 0, NULL},
    {"median_change", KIND_FIGURE, AT(median_change), 0, NULL},
    {"median_difference", KIND_FIGURE, AT(median_difference), 0, NULL},
    {"comparison", KIND_TEXT, AT(comparison), 0, NULL},
    {"candidate", KIND_TEXT, AT(candidate), 0, NULL},
    {"profile", KIND_TEXT, AT(profile), 0, NULL},
    {"judged", KIND_BOOL, AT(judged), 0, NULL},
};
static const struct shape worst_shape = SHAPE(worst_members, lab_worst);
#undef OWNER

#define OWNER lab_error
static const struct member error_members[] = {
    {"error", KIND_MAYBE, AT(error), 0, NULL},
    {"count", KIND_COUNT, AT(count), 0, NULL},
    {"comparison", KIND_TEXT, AT(comparison), 0, NULL},
};
static const struct shape error_shape = SHAPE(error_members, lab_error);
#undef OWNER

#define OWNER lab_variant
static const struct member variant_members[] = {
    {"variant", KIND_TEXT, AT(variant), 0, NULL},
    {"command", KIND_TEXT, AT(command), 0, NULL},
    {"runs", KIND_COUNT, AT(runs), 0, NULL},
    {"failed", KIND_COUNT, AT(failed), 0, NULL},
    {"errors", KIND_LIST, AT(errors), AT(error_count), &error_shape},
};
static const struct shape variant_shape = SHAPE(variant_members, lab_variant);
#undef OWNER

#define OWNER lab_report
static const struct member lab_members[] = {
    {"abba", KIND_FORMAT, 0, 0, NULL},
    {"series", KIND_TEXT, AT(series), 0, NULL},
    {"lab_sha256", KIND_SHA256, AT(sha256), 0, NULL},
    {"analysis", KIND_COUNT, AT(analysis), 0, NULL},
    {"verdict", KIND_VERDICT, AT(verdict), 0, NULL},
    {"finished", KIND_BOOL, AT(finished), 0, NULL},
    {"runs_done", KIND_COUNT64, AT(runs_done), 0, NULL},
    {"runs_planned", KIND_COUNT64, AT(runs_planned), 0, NULL},
    {"worst", KIND_LIST, AT(worst), AT(worst_count), &worst_shape},
    {"variants", KIND_LIST, AT(variants), AT(variant_count), &variant_shape},
    {"gating_verdicts", KIND_COUNT, AT(gating_verdicts), 0, NULL},
    {"alarm_verdicts", KIND_COUNT, AT(alarm_verdicts), 0, NULL},
    {"expected_false_alarms", KIND_FIGURE, AT(expected_false_alarms), 0, NULL},
    {"any_false_alarm", KIND_FIGURE, AT(any_false_alarm), 0, NULL},
    {"notes", KIND_STRINGS, AT(notes), 0, NULL},
    {"comparisons", KIND_LIST, AT(comparisons), AT(comparison_count), &result_shape},
};
static const struct shape lab_shape = SHAPE(lab_members, lab_report);
#undef OWNER

void lab_report_encode(const struct lab_report *r, struct buf *out)
{
    shape_write(&lab_shape, r, out);
}

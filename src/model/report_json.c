/*
 * report.json, of one series. The keys that come first are those of the documented format; further
 * ones follow them.
 */
#include "model/report.h"
#include "model/report_json.h"

#define OWNER report_accepted
static const struct member accepted_members[] = {
    {"name", KIND_TEXT, AT(name), 0, NULL},     {"up_to", KIND_FIGURE, AT(up_to), 0, NULL},
    {"reason", KIND_TEXT, AT(reason), 0, NULL}, {"who", KIND_TEXT, AT(who), 0, NULL},
    {"until", KIND_TEXT, AT(until), 0, NULL},
};
static const struct shape accepted_shape = SHAPE(accepted_members, report_accepted);
#undef OWNER

#define OWNER report_metric
static const struct member metric_members[] = {
    {"candidate", KIND_TEXT, AT(candidate), 0, NULL},
    {"metric", KIND_TEXT, AT(metric), 0, NULL},
    {"unit", KIND_TEXT, AT(unit), 0, NULL},
    {"better", KIND_BETTER, AT(better), 0, NULL},
    {"baseline_median", KIND_FIGURE, AT(baseline_median), 0, NULL},
    {"candidate_median", KIND_FIGURE, AT(candidate_median), 0, NULL},
    {"median_change", KIND_FIGURE, AT(median_change), 0, NULL},
    {"median_difference", KIND_FIGURE, AT(median_difference), 0, NULL},
    {"interval", KIND_RANGE, AT(interval_low), 0, NULL},
    {"level", KIND_FIGURE, AT(level), 0, NULL},
    {"threshold", KIND_FIGURE, AT(threshold), 0, NULL},
    {"verdict", KIND_VERDICT, AT(verdict), 0, NULL},
    {"grade", KIND_GRADE, AT(grade), 0, NULL},
    {"hodges_lehmann", KIND_FIGURE, AT(hodges_lehmann), 0, NULL},
    {"p", KIND_FIGURE, AT(p), 0, NULL},
    {"sees", KIND_FIGURE, AT(sees), 0, NULL},
    {"complete_pairs", KIND_COUNT, AT(complete_pairs), 0, NULL},
    {"baseline_spread", KIND_FIGURE, AT(baseline_spread), 0, NULL},
    {"candidate_spread", KIND_FIGURE, AT(candidate_spread), 0, NULL},
    {"baseline_range", KIND_RANGE, AT(baseline_min), 0, NULL},
    {"candidate_range", KIND_RANGE, AT(candidate_min), 0, NULL},
    {"mark", KIND_MARK, AT(mark), 0, NULL},
    {"hodges_lehmann_interval", KIND_RANGE, AT(hl_low), 0, NULL},
    {"hodges_lehmann_level", KIND_FIGURE, AT(hl_level), 0, NULL},
    {"holm_p", KIND_FIGURE, AT(holm_p), 0, NULL},
    {"zeros", KIND_COUNT, AT(zeros), 0, NULL},
    {"sigma", KIND_FIGURE, AT(sigma), 0, NULL},
    {"slot_effect", KIND_FIGURE, AT(slot_effect), 0, NULL},
    {"slot_p", KIND_FIGURE, AT(slot_p), 0, NULL},
    {"balanced_median", KIND_FIGURE, AT(balanced_median), 0, NULL},
    {"pairing_gain", KIND_FIGURE, AT(pairing_gain), 0, NULL},
    {"false_alarm", KIND_FIGURE, AT(false_alarm), 0, NULL},
    {"claim", KIND_MAYBE, AT(claim), 0, NULL},
    {"control", KIND_BOOL, AT(control), 0, NULL},
    {"note", KIND_MAYBE, AT(note), 0, NULL},
    {"missing", KIND_STRINGS, AT(missing), 0, NULL},
    {"accepted", KIND_LIST_IF_ANY, AT(accepted), AT(accepted_count), &accepted_shape},
};
static const struct shape metric_shape = SHAPE(metric_members, report_metric);
#undef OWNER

#define OWNER report_failure
static const struct member failure_members[] = {
    {"variant", KIND_TEXT, AT(variant), 0, NULL},
    {"count", KIND_COUNT, AT(count), 0, NULL},
    {"run", KIND_COUNT64, AT(run), 0, NULL},
    {"error", KIND_MAYBE, AT(error), 0, NULL},
    {"stderr_tail", KIND_MAYBE, AT(stderr_tail), 0, NULL},
};
static const struct shape failure_shape = SHAPE(failure_members, report_failure);
#undef OWNER

#define OWNER report_aa
static const struct member aa_members[] = {
    {"metric", KIND_TEXT, AT(metric), 0, NULL},
    {"sigma", KIND_FIGURE, AT(sigma), 0, NULL},
    {"sigma_mad", KIND_FIGURE, AT(sigma_mad), 0, NULL},
    {"slot_effect", KIND_FIGURE, AT(slot_effect), 0, NULL},
    {"lag1", KIND_FIGURE, AT(lag1), 0, NULL},
    {"swap_rate", KIND_FIGURE, AT(swap_rate), 0, NULL},
};
static const struct shape aa_shape = SHAPE(aa_members, report_aa);
#undef OWNER

#define OWNER report_summary
static const struct member summary_members[] = {
    {"variant", KIND_TEXT, AT(variant), 0, NULL},    {"metric", KIND_TEXT, AT(metric), 0, NULL},
    {"unit", KIND_TEXT, AT(unit), 0, NULL},          {"better", KIND_BETTER, AT(better), 0, NULL},
    {"runs", KIND_COUNT, AT(runs), 0, NULL},         {"of", KIND_COUNT, AT(of), 0, NULL},
    {"mean", KIND_FIGURE, AT(mean), 0, NULL},        {"median", KIND_FIGURE, AT(median), 0, NULL},
    {"spread", KIND_FIGURE, AT(spread), 0, NULL},    {"range", KIND_RANGE, AT(min), 0, NULL},
    {"missing", KIND_STRINGS, AT(missing), 0, NULL},
};
static const struct shape summary_shape = SHAPE(summary_members, report_summary);
#undef OWNER

#define OWNER report_figure
static const struct member figure_members[] = {
    {"metric", KIND_TEXT, AT(metric), 0, NULL},   {"unit", KIND_TEXT, AT(unit), 0, NULL},
    {"median", KIND_FIGURE, AT(median), 0, NULL}, {"range", KIND_RANGE, AT(low), 0, NULL},
    {"runs", KIND_COUNT, AT(runs), 0, NULL},
};
static const struct shape figure_shape = SHAPE(figure_members, report_figure);
#undef OWNER

#define OWNER report_outcome
static const struct member outcome_members[] = {
    {"variant", KIND_TEXT, AT(variant), 0, NULL},
    {"failed", KIND_BOOL, AT(failed), 0, NULL},
    {"runs", KIND_COUNT, AT(runs), 0, NULL},
    {"ended_well", KIND_COUNT, AT(ended_well), 0, NULL},
    {"figures", KIND_LIST, AT(figures), AT(figure_count), &figure_shape},
};
static const struct shape outcome_shape = SHAPE(outcome_members, report_outcome);
#undef OWNER

#define OWNER report_column
static const struct member column_members[] = {
    {"metric", KIND_TEXT, AT(metric), 0, NULL},
    {"unit", KIND_TEXT, AT(unit), 0, NULL},
    {"better", KIND_BETTER, AT(better), 0, NULL},
    {"profile", KIND_MAYBE, AT(profile), 0, NULL},
};
static const struct shape column_shape = SHAPE(column_members, report_column);
#undef OWNER

#define OWNER report_cell
static const struct member cell_members[] = {
    {"median", KIND_FIGURE, AT(median), 0, NULL}, {"range", KIND_RANGE, AT(low), 0, NULL},
    {"runs", KIND_COUNT, AT(runs), 0, NULL},      {"of", KIND_COUNT, AT(of), 0, NULL},
    {"status", KIND_TEXT, AT(status), 0, NULL},   {"reason", KIND_MAYBE, AT(reason), 0, NULL},
};
static const struct shape cell_shape = SHAPE(cell_members, report_cell);
#undef OWNER

#define OWNER report_row
static const struct member row_members[] = {
    {"variant", KIND_TEXT, AT(variant), 0, NULL},
    {"cells", KIND_LIST, AT(cells), AT(cell_count), &cell_shape},
};
static const struct shape row_shape = SHAPE(row_members, report_row);
#undef OWNER

#define OWNER report_table
static const struct member table_members[] = {
    {"columns", KIND_LIST, AT(columns), AT(column_count), &column_shape},
    {"rows", KIND_LIST, AT(rows), AT(row_count), &row_shape},
};
static const struct shape table_shape = SHAPE(table_members, report_table);
#undef OWNER

#define OWNER report_profile
static const struct member profile_members[] = {
    {"profile", KIND_TEXT, AT(profile), 0, NULL},
    {"verdict", KIND_VERDICT, AT(verdict), 0, NULL},
    {"pairs", KIND_COUNT, AT(pairs), 0, NULL},
    {"complete_pairs", KIND_COUNT, AT(complete_pairs), 0, NULL},
    {"metrics", KIND_LIST, AT(metrics), AT(metric_count), &metric_shape},
    {"min_complete", KIND_COUNT, AT(min_complete), 0, NULL},
    {"stage", KIND_TEXT, AT(stage), 0, NULL},
    {"main_verdict", KIND_MAYBE, AT(main_verdict), 0, NULL},
    {"order", KIND_TEXT, AT(order), 0, NULL},
    {"level", KIND_FIGURE, AT(level), 0, NULL},
    {"noisy_pairs", KIND_COUNT, AT(noisy_pairs), 0, NULL},
    {"failures", KIND_LIST, AT(failures), AT(failure_count), &failure_shape},
    {"aa", KIND_LIST, AT(aa), AT(aa_count), &aa_shape},
    {"summaries", KIND_LIST_IF_ANY, AT(summaries), AT(summary_count), &summary_shape},
    {"notes", KIND_STRINGS, AT(notes), 0, NULL},
    {"failure_notes", KIND_STRINGS, AT(failure_notes), 0, NULL},
    {"unmeasured", KIND_STRINGS, AT(unmeasured), 0, NULL},
    {"outcomes", KIND_LIST_IF_ANY, AT(outcomes), AT(outcome_count), &outcome_shape},
    {"table", KIND_OBJECT_IF_ANY, AT(table), 0, &table_shape},
};
static const struct shape profile_shape = SHAPE(profile_members, report_profile);
#undef OWNER

#define OWNER report_worst
static const struct member worst_members[] = {
    {"candidate", KIND_TEXT, AT(candidate), 0, NULL},
    {"metric", KIND_TEXT, AT(metric), 0, NULL},
    {"profile", KIND_TEXT, AT(profile), 0, NULL},
    {"median_change", KIND_FIGURE, AT(median_change), 0, NULL},
};
static const struct shape worst_shape = SHAPE(worst_members, report_worst);
#undef OWNER

#define OWNER earlier
static const struct member earlier_members[] = {
    {"archive", KIND_TEXT, AT(archive), 0, NULL},
    {"started", KIND_TEXT, AT(started), 0, NULL},
    {"verdict", KIND_TEXT, AT(verdict), 0, NULL},
    {"digest", KIND_TEXT, AT(digest), 0, NULL},
};
static const struct shape earlier_shape = SHAPE(earlier_members, earlier);
#undef OWNER

#define OWNER report_cpu_set
static const struct member cpu_set_members[] = {
    {"cpus", KIND_TEXT, AT(cpus), 0, NULL},
    {"count", KIND_COUNT, AT(count), 0, NULL},
    {"profile", KIND_TEXT, AT(profile), 0, NULL},
};
static const struct shape cpu_set_shape = SHAPE(cpu_set_members, report_cpu_set);
#undef OWNER

#define OWNER report_scaled_cell
static const struct member scaled_cell_members[] = {
    {"median", KIND_FIGURE, AT(cell.median), 0, NULL},
    {"speedup", KIND_FIGURE, AT(speedup), 0, NULL},
    {"range", KIND_RANGE, AT(cell.low), 0, NULL},
    {"runs", KIND_COUNT, AT(cell.runs), 0, NULL},
    {"of", KIND_COUNT, AT(cell.of), 0, NULL},
    {"status", KIND_TEXT, AT(cell.status), 0, NULL},
    {"reason", KIND_MAYBE, AT(cell.reason), 0, NULL},
};
static const struct shape scaled_cell_shape = SHAPE(scaled_cell_members, report_scaled_cell);
#undef OWNER

#define OWNER report_scaled
static const struct member scaled_members[] = {
    {"variant", KIND_TEXT, AT(variant), 0, NULL},
    {"cells", KIND_LIST, AT(cells), AT(cell_count), &scaled_cell_shape},
};
static const struct shape scaled_shape = SHAPE(scaled_members, report_scaled);
#undef OWNER

#define OWNER report_scaling
static const struct member scaling_members[] = {
    {"profile", KIND_TEXT, AT(profile), 0, NULL},
    {"metric", KIND_TEXT, AT(column.metric), 0, NULL},
    {"unit", KIND_TEXT, AT(column.unit), 0, NULL},
    {"better", KIND_BETTER, AT(column.better), 0, NULL},
    {"sets", KIND_LIST, AT(sets), AT(set_count), &cpu_set_shape},
    {"base", KIND_COUNT, AT(base), 0, NULL},
    {"rows", KIND_LIST, AT(rows), AT(row_count), &scaled_shape},
};
static const struct shape scaling_shape = SHAPE(scaling_members, report_scaling);
#undef OWNER

#define OWNER report_regime
static const struct member regime_members[] = {
    {"regime", KIND_TEXT, AT(regime), 0, NULL},
    {"profiles", KIND_STRINGS, AT(profiles), 0, NULL},
};
static const struct shape regime_shape = SHAPE(regime_members, report_regime);
#undef OWNER

#define OWNER report_signs
static const struct member signs_members[] = {
    {"candidate", KIND_TEXT, AT(candidate), 0, NULL},
    {"metric", KIND_TEXT, AT(metric), 0, NULL},
    {"signs", KIND_STRINGS, AT(signs), 0, NULL},
};
static const struct shape signs_shape = SHAPE(signs_members, report_signs);
#undef OWNER

#define OWNER report_flip
static const struct member flip_members[] = {
    {"candidate", KIND_TEXT, AT(candidate), 0, NULL},
    {"metric", KIND_MAYBE, AT(metric), 0, NULL},
    {"wins", KIND_STRINGS, AT(wins), 0, NULL},
    {"loses", KIND_STRINGS, AT(loses), 0, NULL},
};
static const struct shape flip_shape = SHAPE(flip_members, report_flip);
#undef OWNER

#define OWNER report_regimes
static const struct member regimes_members[] = {
    {"regimes", KIND_LIST, AT(regimes), AT(regime_count), &regime_shape},
    {"rows", KIND_LIST, AT(rows), AT(row_count), &signs_shape},
    {"flips", KIND_LIST, AT(flips), AT(flip_count), &flip_shape},
};
static const struct shape regimes_shape = SHAPE(regimes_members, report_regimes);
#undef OWNER

#define OWNER report
static const struct member report_members[] = {
    {"abba", KIND_FORMAT, 0, 0, NULL},
    {"series", KIND_TEXT, AT(series), 0, NULL},
    {"plan_sha256", KIND_SHA256, AT(plan_sha256), 0, NULL},
    {"analysis", KIND_COUNT, AT(analysis), 0, NULL},
    {"verdict", KIND_VERDICT, AT(verdict), 0, NULL},
    {"profiles", KIND_LIST, AT(profiles), AT(profile_count), &profile_shape},
    {"rule", KIND_TEXT, AT(rule), 0, NULL},
    {"thresholds", KIND_TEXT, AT(thresholds), 0, NULL},
    {"exploratory", KIND_BOOL, AT(exploratory), 0, NULL},
    {"finished", KIND_BOOL, AT(finished), 0, NULL},
    {"runs_done", KIND_COUNT64, AT(runs_done), 0, NULL},
    {"runs_planned", KIND_COUNT64, AT(runs_planned), 0, NULL},
    {"worst", KIND_LIST, AT(worst), AT(worst_count), &worst_shape},
    {"gating_verdicts", KIND_COUNT, AT(gating_verdicts), 0, NULL},
    {"expected_false_alarms", KIND_FIGURE, AT(expected_false_alarms), 0, NULL},
    {"any_false_alarm", KIND_FIGURE, AT(any_false_alarm), 0, NULL},
    {"marks_tested", KIND_COUNT, AT(marks_tested), 0, NULL},
    {"variants", KIND_STRINGS, AT(variants), 0, NULL},
    {"commands", KIND_STRINGS, AT(displays), 0, NULL},
    {"notes", KIND_STRINGS, AT(notes), 0, NULL},
    {"machine", KIND_MAYBE, AT(host_note), 0, NULL},
    {"failure_notes", KIND_STRINGS, AT(failure_notes), 0, NULL},
    {"earlier", KIND_LIST_IF_ANY, AT(earlier), AT(earlier_count), &earlier_shape},
    {"scalings", KIND_LIST_IF_ANY, AT(scalings), AT(scaling_count), &scaling_shape},
    {"regimes", KIND_OBJECT_IF_ANY, AT(regimes), 0, &regimes_shape},
};
const struct shape report_shape = SHAPE(report_members, report);
#undef OWNER

void report_encode(const struct report *r, struct buf *out)
{
    shape_write(&report_shape, r, out);
}

int report_decode(struct report *r, const struct json *root, const char *file, struct arena *arena,
                  struct err *err)
{
    struct report read = {0};

    if (shape_read(&report_shape, root, file, &read, arena, err) < 0)
        return -1;
    *r = read;
    return 0;
}

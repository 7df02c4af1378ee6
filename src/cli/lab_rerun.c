/* abba rerun of a lab: all of its comparisons again, into a lab of its own, with one summary. */
#include <stdlib.h>
#include <string.h>

#include "archive/reader.h"
#include "base/buf.h"
#include "base/mem.h"
#include "cli/again.h"
#include "cli/lab.h"
#include "cli/lab_print.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "judge/reproduce.h"
#include "report/report.h"

struct lab_again {
    struct settings *s;
    const struct lab_archive *then;
    struct again *comparisons;
    const struct archive **likes;
    struct lab lab; /* the plans of then, with what is at hand */
};

/* ---- what is at hand ---- */

/* Opened in full, for each comparison, before anything is said or run. */
static int open_comparison(struct lab_again *x, size_t i, struct planning *g, struct err *err)
{
    const struct lab_comparison *c = &x->then->lab->comparisons[i];
    struct again *a = &x->comparisons[i];

    a->name = c->name;
    if (!x->then->archives[i]) {
        err_set(err, ERR_UNFINISHED, "unfinished: comparison '%s' has not begun", c->name);
        return err_hint(err, "abba resume finishes the lab");
    }
    a->s = x->s;
    if (again_open(a, x->then->archives[i]->folder, g, err) < 0)
        return err_wrap(err, "comparison '%s'", c->name);
    x->likes[i] = a->rerun.archive;
    x->lab.comparisons[i].plan = a->rerun.plan;
    return 0;
}

static int check_comparisons(const struct lab_again *x, struct planning *g, struct err *err)
{
    for (size_t i = 0; i < x->lab.comparison_count; i++)
        if (again_check(&x->comparisons[i], g, err) < 0)
            return err_wrap(err, "comparison '%s'", x->comparisons[i].name);
    return 0;
}

static int make_ready(struct lab_again *x, struct planning *g, struct err *err)
{
    const struct lab *then = x->then->lab;
    struct arena *arena = &x->s->arena;

    x->lab = *then;
    x->lab.comparisons = arena_array(arena, then->comparison_count, sizeof *x->lab.comparisons);
    memcpy(x->lab.comparisons, then->comparisons,
           then->comparison_count * sizeof *x->lab.comparisons);
    x->comparisons = xcalloc(then->comparison_count, sizeof *x->comparisons);
    x->likes = xcalloc(then->comparison_count, sizeof *x->likes);
    for (size_t i = 0; i < then->comparison_count; i++)
        if (open_comparison(x, i, g, err) < 0)
            return -1;
    lab_seal(&x->lab);
    return check_comparisons(x, g, err);
}

static void release(struct lab_again *x)
{
    for (size_t i = 0; x->comparisons && i < x->lab.comparison_count; i++)
        if (x->comparisons[i].s)
            again_close(&x->comparisons[i]);
    free(x->comparisons);
    free(x->likes);
}

/* ---- how it compares ---- */

static void compare(struct lab_again *x, size_t i, const struct archive *now,
                    const struct report *report, struct reproduced_comparison *out)
{
    out->name = x->comparisons[i].name;
    out->r = (struct reproduction){.outcome = CANNOT_TELL, .then = &x->comparisons[i].then};
    if (now && report)
        again_compare(&x->comparisons[i], report, now, &out->r);
}

static int on_done(void *user, const struct lab_archive *now, const struct lab_report *r,
                   const char *folder, const char *digest, struct err *err)
{
    struct lab_again *x = user;
    struct lab_reproduction l = {.name = x->lab.name, .comparison_count = x->lab.comparison_count};
    struct report_style style = terminal_style(x->s);
    struct buf text = BUF_INIT;

    l.comparisons = arena_array(&x->s->arena, l.comparison_count, sizeof *l.comparisons);
    for (size_t i = 0; i < l.comparison_count; i++)
        compare(x, i, now->archives[i], r->comparisons[i].report, &l.comparisons[i]);
    reproduce_lab(&l);
    style.archive = folder;
    style.digest = digest;
    lab_reproduction_text(&l, &style, &text);
    int rc = terminal_result(x->s, &text, err);
    buf_release(&text);
    return rc < 0 ? -1 : again_status(l.outcome);
}

int lab_rerun(struct settings *s, const char *folder, struct err *err)
{
    struct lab_again x = {.s = s};
    struct planning planning;
    struct lab_archive *then = NULL;
    int status = -1;

    if (planning_init(&planning, s, err) < 0 || lab_open(&then, folder, err) < 0)
        return -1;
    x.then = then;
    if (make_ready(&x, &planning, err) == 0)
        status = s->plan ? lab_print_plan(s, &x.lab, err)
                         : lab_run_again(s, &x.lab, x.likes, on_done, &x, err);
    release(&x);
    lab_close(then);
    return status;
}

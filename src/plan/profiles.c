#include "plan/profiles.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/decode.h"
#include "model/metric.h"

#include <stdlib.h>
#include <string.h>

/* ---- the matrix ---- */

/* Applies value `choice` of an axis to a combination under way. */
static void apply_axis(struct profile *p, const struct matrix_axis *axis, size_t choice,
                       struct arena *arena)
{
    const struct load_setting *value = &axis->values[choice];

    p->name = arena_printf(arena, "%s,%s=%s", p->name, axis->name, value->text);
    p->combination[p->combination_count++] = *value;
    if (strcmp(axis->name, "cpus") != 0) {
        p->load[p->load_count++] = *value;
        return;
    }
    if (strcmp(value->text, PROFILE_ALL_CPUS) == 0)
        return;
    p->cpus = arena_alloc(arena, sizeof(*p->cpus));
    p->cpus[0] = (struct role_cpus){"*", value->text};
    p->cpus_count = 1;
}

static struct profile combination(const struct profile *p, size_t number, struct arena *arena)
{
    struct profile one = *p;
    size_t stride = 1;

    one.load = arena_array(arena, p->load_count + p->matrix_count + 1, sizeof(*one.load));
    if (p->load_count)
        memcpy(one.load, p->load, p->load_count * sizeof(*one.load));
    one.matrix = NULL;
    one.matrix_count = 0;
    one.combination_of = p->matrix_count ? p->name : NULL;
    one.combination = arena_array(arena, p->matrix_count + 1, sizeof(*one.combination));
    for (size_t i = 0; i < p->matrix_count; i++)
        stride *= p->matrix[i].value_count;
    for (size_t i = 0; i < p->matrix_count; i++) {
        stride /= p->matrix[i].value_count;
        apply_axis(&one, &p->matrix[i], number / stride % p->matrix[i].value_count, arena);
    }
    decode_sort(one.load, one.load_count, sizeof(*one.load));
    decode_sort(one.combination, one.combination_count, sizeof(*one.combination));
    return one;
}

void profile_expand(const struct profile *p, struct profile **out, size_t *count,
                    struct arena *arena)
{
    *count = 1;
    for (size_t i = 0; i < p->matrix_count; i++)
        *count *= p->matrix[i].value_count;
    *out = arena_array(arena, *count, sizeof(**out));
    for (size_t i = 0; i < *count; i++)
        (*out)[i] = combination(p, i, arena);
}

/* ---- against the runner ---- */

static int unknown_load(const struct profile *p, const struct runner *r, const char *name,
                        const char *file, struct arena *arena, struct err *err)
{
    struct strings names = {0};
    struct buf list = BUF_INIT_MAX(400);
    const char *near;

    for (size_t i = 0; i < r->load_count; i++) {
        strings_add(&names, arena, r->load[i].name);
        buf_printf(&list, "%s'%s'", i ? ", " : "", r->load[i].name);
    }
    err_set(err, ERR_CONFIG,
            "'%s': profile '%s' sets '%s', which runner '%s' does not know; known: %s", file,
            p->name, name, r->name, list.len ? list.data : "none");
    buf_release(&list);
    near = text_nearest(name, names.items, names.count);
    return near ? err_hint(err, "did you mean '%s'?", near) : -1;
}

/* The wrong JSON type is as wrong as the wrong unit. */
static int check_form(const struct load_param *param, const struct load_setting *s, struct err *err)
{
    static const char *const forms[] = {"a string", "an integer", "true or false"};
    enum load_form wanted = param->type == LOAD_INTEGER ? LOAD_AS_INTEGER
                            : param->type == LOAD_BOOL  ? LOAD_AS_BOOL
                                                        : LOAD_AS_STRING;

    if (s->form == wanted)
        return 0;
    err_set(err, ERR_CONFIG, "found %s (%s): type '%s' is written as %s", forms[s->form], s->text,
            load_type_name(param->type), forms[wanted]);
    if (wanted == LOAD_AS_STRING && param->type != LOAD_STRING)
        err_hint(err, "a quantity is a string with its unit, such as \"20ms\", \"320Mbit/s\"");
    return -1;
}

static const struct load_setting *find_setting(const struct profile *p, const char *name)
{
    for (size_t i = 0; i < p->load_count; i++)
        if (strcmp(p->load[i].name, name) == 0)
            return &p->load[i];
    return NULL;
}

static int resolve_param(const struct profile *p, const struct load_param *param,
                         struct load_setting *out, struct err *err)
{
    const struct load_setting *set = find_setting(p, param->name);

    if (!set && !param->default_text)
        return err_set(err, ERR_CONFIG, "is not set, and has no default");
    if (set) {
        *out = *set;
        if (check_form(param, set, err) < 0)
            return -1;
        return load_param_check(param, set->text, NULL, err);
    }
    *out = (struct load_setting){param->name, param->default_text,
                                 param->type == LOAD_INTEGER ? LOAD_AS_INTEGER
                                 : param->type == LOAD_BOOL  ? LOAD_AS_BOOL
                                                             : LOAD_AS_STRING};
    return 0;
}

static int resolve_load(struct profile *p, const struct runner *r, const char *file,
                        struct arena *arena, struct err *err)
{
    struct load_setting *load = arena_array(arena, r->load_count + 1, sizeof(*load));

    for (size_t i = 0; i < p->load_count; i++)
        if (!runner_find_load(r, p->load[i].name))
            return unknown_load(p, r, p->load[i].name, file, arena, err);
    for (size_t i = 0; i < r->load_count; i++)
        if (resolve_param(p, &r->load[i], &load[i], err) < 0)
            return err_wrap(err, "'%s': profile '%s': load '%s'", file, p->name, r->load[i].name);
    p->load = load;
    p->load_count = r->load_count;
    return 0;
}

static int check_cpu_roles(const struct profile *p, const struct runner *r, struct err *err)
{
    const char *names[16];
    const char *near;

    for (size_t i = 0; i < r->role_count; i++)
        names[i] = r->roles[i].name;
    for (size_t i = 0; i < p->cpus_count; i++) {
        const char *role = p->cpus[i].role;

        if (strcmp(role, "*") == 0 || runner_find_role(r, role))
            continue;
        err_set(err, ERR_CONFIG, "'cpus' names the role '%s', which runner '%s' does not have",
                role, r->name);
        near = text_nearest(role, names, r->role_count);
        return near ? err_hint(err, "did you mean '%s'?", near) : -1;
    }
    return 0;
}

/* The roles of a network: two for a pair, and those that its directions name. */
static int check_network_roles(const struct profile *p, const struct runner *r, struct err *err)
{
    const struct network *n = &p->network;

    if (n->topology == NET_PAIR && r->role_count != NET_PAIR_ROLES)
        return err_set(err, ERR_CONFIG,
                       "the network's topology 'pair' joins %d roles, and runner '%s' has %zu",
                       NET_PAIR_ROLES, r->name, r->role_count);
    for (size_t i = 0; i < n->link_count; i++) {
        const char *from = n->links[i].from, *to = n->links[i].to;

        if (!runner_find_role(r, from) || !runner_find_role(r, to))
            return err_set(err, ERR_CONFIG,
                           "the network's direction '%s->%s' names the role '%s', which runner "
                           "'%s' does not have",
                           from, to, runner_find_role(r, from) ? to : from, r->name);
    }
    return 0;
}

static int check_controls(const struct profile *p, const struct runner *r, struct err *err)
{
    for (size_t i = 0; i < p->control_count; i++) {
        const char *metric = p->controls[i].metric;
        const char *near = metric_nearest(metric);

        if (metric_find(metric) || runner_find_metric(r, metric))
            continue;
        err_set(err, ERR_CONFIG, "the control '%s' is no metric", metric);
        return near ? err_hint(err, "did you mean '%s'?", near) : -1;
    }
    return 0;
}

int profile_resolve(struct profile *p, const struct runner *r, const char *file,
                    struct arena *arena, struct err *err)
{
    if (resolve_load(p, r, file, arena, err) < 0)
        return -1;
    if (check_cpu_roles(p, r, err) < 0 || check_network_roles(p, r, err) < 0 ||
        check_controls(p, r, err) < 0)
        return err_wrap(err, "'%s': profile '%s'", file, p->name);
    return 0;
}

int profile_fits(const struct profile *p, const struct runner *r, struct err *err)
{
    for (size_t i = 0; i < p->load_count; i++) {
        const struct load_param *param = runner_find_load(r, p->load[i].name);

        if (!param)
            return err_set(err, ERR_CONFIG, "it takes no load '%s'", p->load[i].name);
        if (check_form(param, &p->load[i], err) < 0 ||
            load_param_check(param, p->load[i].text, NULL, err) < 0)
            return err_wrap(err, "load '%s'", p->load[i].name);
    }
    for (size_t i = 0; i < r->load_count; i++)
        if (!r->load[i].default_text && !profile_load(p, r->load[i].name))
            return err_set(err, ERR_CONFIG, "it needs the load '%s'", r->load[i].name);
    return check_cpu_roles(p, r, err) < 0 ? -1 : check_network_roles(p, r, err);
}

const char *profile_missing_cpus(const struct profile *p, const cpu_set_t *allowed)
{
    for (size_t i = 0; i < p->cpus_count; i++) {
        cpu_set_t wanted, both;
        struct err ignored;

        if (profile_check_cpus(p->cpus[i].list, &wanted, &ignored) < 0)
            return p->cpus[i].list;
        CPU_AND(&both, &wanted, allowed);
        if (!CPU_EQUAL(&both, &wanted))
            return p->cpus[i].list;
    }
    return NULL;
}

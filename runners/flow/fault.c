#include "fault.h"

#include "../common/units.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER = 65536 };

static double *field(struct fault *f, const char *name)
{
    const struct {
        const char *name;
        double *value;
    } fields[] = {
        {"drop", &f->drop},     {"duplicate", &f->duplicate}, {"reorder", &f->reorder},
        {"damage", &f->damage}, {"corrupt", &f->corrupt},
    };

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (strcmp(name, fields[i].name) == 0)
            return fields[i].value;
    return NULL;
}

static int parse_item(struct fault *f, char *item, struct err *e)
{
    char *value = strchr(item, '=');
    double *percent;

    if (!value)
        return err_set(e, "'%s' has no '=' in --fault", item);
    *value++ = '\0';
    if (strcmp(item, "seed") == 0) {
        if (parse_integer(value, 0, UINT64_MAX, &f->seed))
            return err_set(e, "'%s' is not a seed in --fault", value);
        return 0;
    }
    percent = field(f, item);
    if (!percent)
        return err_set(e, "unknown fault '%s': drop, duplicate, reorder, damage, corrupt, seed",
                       item);
    if (parse_percent(value, percent))
        return err_set(e, "'%s' is not a percentage in --fault %s", value, item);
    return 0;
}

int fault_parse(struct fault *f, const char *text, struct err *e)
{
    char copy[256];
    char *rest = copy;
    char *item;

    if (strlen(text) >= sizeof(copy))
        return err_set(e, "--fault is too long");
    memcpy(copy, text, strlen(text) + 1);
    while ((item = strsep(&rest, ",")))
        if (parse_item(f, item, e))
            return -1;
    f->active = true;
    return 0;
}

int fault_init(struct fault *f, struct err *e)
{
    if (!f->active)
        return 0;
    f->held = malloc(BUFFER);
    f->spoilt = malloc(BUFFER);
    return f->held && f->spoilt ? 0 : err_set(e, "out of memory");
}

void fault_release(struct fault *f)
{
    free(f->held);
    free(f->spoilt);
}

/* xorshift64* on a seed that is never 0 */
static bool happens(struct fault *f, double percent)
{
    uint64_t x = f->seed ? f->seed : 0x2545f4914f6cdd1dULL;

    if (percent <= 0)
        return false;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    f->seed = x;
    return (double)((x * 0x2545f4914f6cdd1dULL) >> 11) * 0x1p-53 * 100 < percent;
}

bool fault_corrupts(struct fault *f)
{
    return f->active && happens(f, f->corrupt);
}

static struct datagram damaged(struct fault *f, struct datagram in)
{
    memcpy(f->spoilt, in.data, in.len);
    f->spoilt[in.len / 2] ^= 0x40;
    return (struct datagram){f->spoilt, in.len};
}

size_t fault_apply(struct fault *f, struct datagram in, struct datagram out[FAULT_MOST])
{
    size_t n = 0;

    if (!f->active || in.len > BUFFER) {
        out[0] = in;
        return 1;
    }
    if (happens(f, f->drop))
        return 0;
    if (f->held_len == 0 && happens(f, f->reorder)) {
        memcpy(f->held, in.data, in.len);
        f->held_len = in.len;
        return 0;
    }
    out[n++] = happens(f, f->damage) ? damaged(f, in) : in;
    if (happens(f, f->duplicate))
        out[n++] = in;
    if (f->held_len) {
        out[n++] = (struct datagram){f->held, f->held_len};
        f->held_len = 0;
    }
    return n;
}

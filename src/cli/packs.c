#include "cli/packs.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/units.h"
#include "cli/cli.h"
#include "series/signals.h"

#include <ctype.h>
#include <string.h>

const char *packs_trim(const char *path, struct arena *arena)
{
    size_t len = strlen(path);

    while (len > 1 && path[len - 1] == '/')
        len--;
    return arena_strndup(arena, path, len);
}

void packs_say_bytes(struct buf *out, uint64_t bytes)
{
    struct units_scaled scaled;
    char digits[UNITS_TEXT];

    units_scale((double)bytes, "B", &scaled);
    units_digits(&scaled, digits);
    buf_printf(out, "%s%s", digits, scaled.suffix);
}

void packs_say(struct buf *out, const char *name, const struct pack_result *r)
{
    buf_printf(out, "%s: %llu files, ", name, (unsigned long long)r->files);
    packs_say_bytes(out, r->sum.bytes);
    buf_addstr(out, " in ");
    packs_say_bytes(out, r->sum.packed);
    buf_printf(out, "\ndigest %s\npack   %s\n", r->digest, r->sum.sha256);
}

int packs_digest(const char *text, struct arena *arena, const char **out, struct err *err)
{
    if (strncmp(text, "sha256:", 7) == 0)
        text += 7;
    char *hex = arena_strdup(arena, text);
    for (char *p = hex; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    if (strlen(hex) != 64 || strspn(hex, "0123456789abcdef") != 64)
        return err_set(err, ERR_USAGE,
                       "option '--digest': found '%.80s', allowed are 64 hexadecimal digits", text);
    *out = hex;
    return 0;
}

int packs_hold_signals(struct err *err)
{
    return signals_hold(err);
}

const volatile sig_atomic_t *packs_stop(void)
{
    return signals_flag();
}

void packs_release_signals(void)
{
    int signal = *signals_flag();

    signals_release();
    if (signal)
        cli_raise_later(signal);
}

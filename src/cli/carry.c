#include "cli/carry.h"

#include "base/units.h"
#include "cli/options.h"
#include "cli/packs.h"
#include "cli/settings.h"
#include "cli/terminal.h"

#define HOUR_NS (3600 * 1000000000LL)

static const struct option_def way[] = {
    {.name = "ca-file",
     .arg = "FILE",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct settings, ca_file),
     .names = NAMES_FILE,
     .absent = "CURL_CA_BUNDLE, SSL_CERT_FILE, or the system's",
     .help = "the authorities that may vouch for a server of https, in PEM"},
    {.name = "timeout",
     .arg = "TIME",
     .kind = OPTION_TIME,
     .offset = offsetof(struct settings, timeout_ns),
     .min = 100000000,
     .max = 24 * 7 * HOUR_NS,
     .preset = "1h",
     .help = "how long one request may take, with all its tries"},
    {.name = "stall",
     .arg = "TIME",
     .kind = OPTION_TIME,
     .offset = offsetof(struct settings, stall_ns),
     .min = 1000000000,
     .max = HOUR_NS,
     .preset = "60s",
     .help = "give a try up when so long less than 100 bytes a second came or went"},
    {.name = "tries",
     .arg = "N",
     .kind = OPTION_INTEGER,
     .offset = offsetof(struct settings, tries),
     .min = 1,
     .max = 100,
     .preset = "6",
     .help = "how often a request is made while the server is busy or the connection breaks"},
    {.name = "retry-pause",
     .arg = "TIME",
     .kind = OPTION_TIME,
     .offset = offsetof(struct settings, retry_pause_ns),
     .min = 1000000,
     .max = HOUR_NS,
     .preset = "500ms",
     .help = "the pause before the second try; each further one is twice as long, or what the "
             "server asks for"},
};
const struct option_group group_way = {"The way there", way, sizeof(way) / sizeof(way[0])};

static void note(void *user, const char *text)
{
    struct carry *c = user;

    progress_wipe(&c->progress);
    terminal_note(c->s, text);
}

static void show_progress(void *user, uint64_t done, uint64_t all)
{
    struct carry *c = user;

    progress_bytes(&c->progress, c->what, done, all);
}

void carry_options(struct carry *c, struct store_options *o)
{
    const struct settings *s = c->s;

    progress_init(&c->progress, s->quiet);
    *o = (struct store_options){0};
    o->http = (struct http_options){.ca_file = s->ca_file,
                                    .note = note,
                                    .progress = show_progress,
                                    .user = c,
                                    .stop = packs_stop()};
    o->http.limits = (struct http_limits){.stall_ns = s->stall_ns,
                                          .total_ns = s->timeout_ns,
                                          .pause_ns = s->retry_pause_ns,
                                          .tries = (int)s->tries};
}

int carry_size(const char *option, const char *text, uint64_t min, uint64_t *bytes, struct err *err)
{
    char least[UNITS_TEXT];

    if (!text)
        return 0;
    if (units_parse_size(text, bytes, err) < 0) {
        err->code = ERR_USAGE;
        return err_wrap(err, "option '--%s'", option);
    }
    if (*bytes >= min)
        return 0;
    units_canonical_size(min, least);
    return err_set(err, ERR_USAGE, "option '--%s': found '%s', the least is %s", option, text,
                   least);
}

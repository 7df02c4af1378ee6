#include "cli/terminal.h"

#include "base/buf.h"
#include "base/files.h"
#include "cli/settings.h"
#include "report/figures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        if (value && value[0])
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

int terminal_columns(int fd)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_col > 0 ? size.ws_col : 80;
}

/* COLUMNS, if it is a sensible number; else 0. */
static int columns_asked(void)
{
    const char *text = getenv("COLUMNS");
    if (!text || !text[0])
        return 0;
    char *end;
    long columns = strtol(text, &end, 10);
    return *end == '\0' && columns >= 40 && columns <= 1000 ? (int)columns : 0;
}

int terminal_help_columns(void)
{
    int columns = terminal_columns(STDOUT_FILENO);
    if (columns == 0)
        return 80;
    return columns > 100 ? 100 : columns < 60 ? 60 : columns;
}

static bool color_wanted(const struct settings *s)
{
    if (s->color == COLOR_ALWAYS || s->color == COLOR_ANSI)
        return true;
    if (s->color == COLOR_NEVER || s->output)
        return false;
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (no_color && no_color[0])
        return false;
    return isatty(STDOUT_FILENO) && !(term && strcmp(term, "dumb") == 0);
}

struct report_style terminal_style(const struct settings *s)
{
    struct report_style style = {
        .color = color_wanted(s), .utf8 = terminal_utf8(), .verbose = s->verbose};
    if (!s->output)
        style.columns = terminal_columns(STDOUT_FILENO);
    if (style.columns == 0)
        style.columns = columns_asked();
    if (style.columns == 0)
        style.columns = TERMINAL_PLAIN_COLUMNS;
    return style;
}

int terminal_print(const char *text, size_t len, struct err *err)
{
    if (files_write_all(STDOUT_FILENO, text, len) == 0 || errno == EPIPE)
        return 0;
    return err_sys(err, ERR_SYSTEM, errno, "cannot write to standard output");
}

int terminal_result(const struct settings *s, const struct buf *text, struct err *err)
{
    if (!s->output || strcmp(s->output, "-") == 0)
        return terminal_print(text->data, text->len, err);
    return files_write_atomic(s->output, text->data, text->len, err);
}

int terminal_begin(const struct settings *s, struct files_draft *d, struct err *err)
{
    *d = (struct files_draft){.fd = -1};
    return !s->output || strcmp(s->output, "-") == 0 ? 0 : files_draft_open(d, s->output, err);
}

int terminal_piece(struct files_draft *d, const struct buf *text, struct err *err)
{
    return d->fd < 0 ? terminal_print(text->data, text->len, err)
                     : files_draft_write(d, text->data, text->len, err);
}

int terminal_end(struct files_draft *d, int rc, struct err *err)
{
    if (d->fd >= 0 && rc == 0)
        return files_draft_place(d, err);
    files_draft_drop(d);
    return rc;
}

/* One write, so that lines of several processes do not mix. */
static void to_stderr(const char *first, const char *text)
{
    struct buf line = BUF_INIT;
    buf_addstr(&line, first);
    safe_text(&line, text, strlen(text)); /* names and file contents may hold anything */
    buf_addch(&line, '\n');
    (void)files_write_all(STDERR_FILENO, line.data, line.len);
    buf_release(&line);
}

void terminal_note(const struct settings *s, const char *text)
{
    if (!s->quiet)
        to_stderr("abba: ", text);
}

void terminal_error(const struct err *err)
{
    to_stderr("abba: ", err->msg);
    if (err->hint[0])
        to_stderr("hint: ", err->hint);
}

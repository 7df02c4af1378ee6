#include "cli/lab_print.h"

#include "base/buf.h"
#include "base/version.h"
#include "cli/plan_text.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "plan/lab.h"
#include "report/report.h"

int lab_print(const struct settings *s, const struct lab_report *r, const char *folder,
              const char *digest, struct err *err)
{
    struct buf out = BUF_INIT, note = BUF_INIT;
    struct report_style style = terminal_style(s);

    style.archive = folder;
    style.digest = digest;
    switch ((enum report_format)s->format) {
    case FORMAT_TEXT:
        lab_text(r, &style, &out);
        break;
    case FORMAT_MARKDOWN:
        lab_markdown(r, &style, &out);
        break;
    case FORMAT_JUNIT:
        lab_junit(r, &out);
        break;
    case FORMAT_JSON:
        lab_report_encode(r, &out);
        break;
    case FORMAT_CSV:
        ABBA_ASSERT(false && "refused by lab_check_format");
    }
    int rc = terminal_result(s, &out, err);
    if (rc == 0 && digest[0] && (s->format != FORMAT_TEXT || s->output)) {
        buf_printf(&note, "archive %s, digest %s", folder, digest);
        terminal_note(s, note.data);
    }
    buf_release(&note);
    buf_release(&out);
    return rc;
}

int lab_check_format(const struct settings *s, struct err *err)
{
    if (s->format != FORMAT_CSV)
        return 0;
    err_set(err, ERR_USAGE, "option '--format': csv is of the samples of one archive");
    return err_hint(err, "abba report FOLDER/01-... --format csv");
}

int lab_print_plan(const struct settings *s, const struct lab *lab, struct err *err)
{
    struct buf out = BUF_INIT, tool = BUF_INIT;
    int rc = 0;

    if (s->format == FORMAT_JSON) {
        buf_printf(&tool, "abba %s", abba_version());
        rc = lab_encode(lab, tool.data, NULL, &out, err);
    } else {
        struct report_style style = terminal_style(s);
        lab_plan_text(lab, &style, &out);
    }
    if (rc == 0)
        rc = terminal_result(s, &out, err);
    buf_release(&tool);
    buf_release(&out);
    return rc;
}

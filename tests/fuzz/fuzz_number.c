/*
 * Any text as a number, in every declared format: it is refused with a message, or it is finite,
 * holds nothing but the format's characters, and is read the same with blanks around it.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "measure/number.h"

static const char *const decimals[] = {".", ","};
static const char *const groups[] = {
    "", " ", ",", ".", "'", "_", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x99"};

static void check(const char *text, size_t len, const struct number_format *format)
{
    struct buf padded = BUF_INIT;
    struct err err = {0};
    double number = NAN, again = NAN;

    if (number_parse(text, len, format, &number, &err) < 0) {
        ABBA_ASSERT(err.code == ERR_MEASURE && err.msg[0] && isnan(number));
        return;
    }
    ABBA_ASSERT(isfinite(number) && len > 0);
    buf_addstr(&padded, " \t");
    buf_add(&padded, text, len);
    buf_addstr(&padded, "\r\n");
    ABBA_ASSERT(number_parse(padded.data, padded.len, format, &again, &err) == 0);
    ABBA_ASSERT(memcmp(&number, &again, sizeof number) == 0);
    ABBA_ASSERT(!memchr(text, '\0', len));
    buf_release(&padded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t d = 0; d < sizeof decimals / sizeof *decimals; d++) {
        for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
            const struct number_format format = {decimals[d], groups[g]};

            if (strcmp(format.decimal, format.group) != 0)
                check((const char *)data, size, &format);
        }
    }
    return 0;
}

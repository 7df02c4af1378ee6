#include "model/outcome.h"

#include "base/buf.h"

int capture_text(const struct capture *c, struct buf *out)
{
    if (buf_reserve(out, c->head_len + c->tail_len) < 0)
        return -1;
    buf_add(out, c->head, c->head_len);
    return buf_add(out, c->tail, c->tail_len);
}

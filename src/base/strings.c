#include "base/strings.h"

#include "base/buf.h"
#include "base/mem.h"

#include <string.h>

void strings_add(struct strings *list, struct arena *arena, const char *s)
{
    if (list->count + 1 >= list->room) {
        size_t room = list->room ? 2 * list->room : 8;
        const char **items = arena_array(arena, room, sizeof(*items));

        if (list->count)
            memcpy(items, list->items, list->count * sizeof(*items));
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = s;
    list->items[list->count] = NULL;
}

bool strings_has(const struct strings *list, const char *s)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], s) == 0)
            return true;
    return false;
}

void strings_add_new(struct strings *list, struct arena *arena, const char *s)
{
    if (!strings_has(list, s))
        strings_add(list, arena, s);
}

void strings_join(const struct strings *list, struct buf *out)
{
    for (size_t i = 0; i < list->count; i++)
        buf_printf(out, "%s%s", i ? ", " : "", list->items[i]);
}

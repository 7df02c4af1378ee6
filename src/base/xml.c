#include "base/xml.h"

#include "base/buf.h"
#include "base/mem.h"

#include <expat.h>
#include <stdbool.h>
#include <string.h>

#define MAX_DEPTH 16
#define MAX_TEXT 65536

struct walk {
    XML_Parser parser;
    void (*element)(void *user, const char *path, const char *text);
    void *user;
    struct buf path, text;
    size_t path_ends[MAX_DEPTH]; /* length of the path above each open element */
    int depth;
    const char *refused; /* why it was stopped; NULL: it was not */
};

static void stop(struct walk *w, const char *why)
{
    w->refused = why;
    XML_StopParser(w->parser, XML_FALSE);
}

static void begin(void *user, const char *name, const char **attributes)
{
    struct walk *w = user;
    const char *colon = strrchr(name, ':');

    (void)attributes;
    if (w->depth == MAX_DEPTH) {
        stop(w, "it is nested too deep");
        return;
    }
    w->path_ends[w->depth++] = w->path.len;
    buf_clear(&w->text);
    if (w->path.len)
        buf_addch(&w->path, '/');
    if (buf_addstr(&w->path, colon ? colon + 1 : name) != 0)
        stop(w, "a name is too long");
}

static void end(void *user, const char *name)
{
    struct walk *w = user;
    const char *text = w->text.data + strspn(w->text.data, " \t\r\n");

    (void)name;
    while (w->text.len && strchr(" \t\r\n", w->text.data[w->text.len - 1]) &&
           w->text.data + w->text.len > text)
        buf_truncate(&w->text, w->text.len - 1);
    w->element(w->user, w->path.data, text);
    buf_truncate(&w->path, w->path_ends[--w->depth]);
    buf_clear(&w->text);
}

static void characters(void *user, const char *s, int len)
{
    struct walk *w = user;

    if (buf_add(&w->text, s, (size_t)len) != 0)
        stop(w, "a text is too long");
}

static void doctype(void *user, const char *name, const char *system, const char *public, int own)
{
    (void)name;
    (void)system;
    (void)public;
    (void)own;
    stop(user, "it has a document type");
}

int xml_walk(const char *text, size_t len,
             void (*element)(void *user, const char *path, const char *text), void *user,
             struct err *err)
{
    struct walk w = {.parser = XML_ParserCreate("UTF-8"),
                     .element = element,
                     .user = user,
                     .path = BUF_INIT_MAX(4096),
                     .text = BUF_INIT_MAX(MAX_TEXT)};
    int rc = 0;

    if (!w.parser)
        mem_exhausted(0);
    XML_SetUserData(w.parser, &w);
    XML_SetElementHandler(w.parser, begin, end);
    XML_SetCharacterDataHandler(w.parser, characters);
    XML_SetStartDoctypeDeclHandler(w.parser, doctype);
    if (XML_Parse(w.parser, text, (int)len, 1) != XML_STATUS_OK)
        rc = err_set(err, ERR_SYSTEM, "no XML that is understood, line %lu, column %lu: %s",
                     (unsigned long)XML_GetCurrentLineNumber(w.parser),
                     (unsigned long)XML_GetCurrentColumnNumber(w.parser) + 1,
                     w.refused ? w.refused : XML_ErrorString(XML_GetErrorCode(w.parser)));
    XML_ParserFree(w.parser);
    buf_release(&w.path);
    buf_release(&w.text);
    return rc;
}

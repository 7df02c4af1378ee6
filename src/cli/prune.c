#include "cli/commands.h"

#include "archive/keep.h"
#include "archive/prune.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/packs.h"
#include "cli/settings.h"
#include "cli/terminal.h"

#include <string.h>

static const struct option_def keeping[] = {
    {.name = "keep",
     .arg = "RULE",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct settings, keep),
     .help =
         "AGE:WORD,...,WORD such as 30d:full,1y:weekly,verdicts: what stays up to each age, and "
         "of all that are older; words are full, daily, weekly, monthly (the newest of each "
         "series) and verdicts (the tombstone alone)"},
    {.name = "max-size",
     .arg = "SIZE",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct settings, max_size),
     .absent = "no limit",
     .help = "then let the oldest go until what stays is no larger, such as 20GB"},
    {.name = "dry-run",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct settings, dry_run),
     .help = "say what would go; remove nothing"},
};
static const struct option_group group_keeping_rule = {"What stays", keeping, 3};

static const struct option_group *const prune_groups[] = {&group_keeping_rule, &group_plain,
                                                          &group_help, NULL};

static const char *const prune_examples[] = {
    "abba prune --keep 30d:full,1y:weekly,verdicts --max-size 20GB --dry-run",
    "what would go of the archives in archive/",
    "abba pin archive/20240506T070809Z-flow-pingpong-1a2b3c4d",
    "one that must stay, whatever the rule says", NULL};

static const struct option_def pinning[] = {
    {.name = "undo",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct settings, undo),
     .help = "let it go again when a rule says so"},
};
static const struct option_group group_pinning = {"Pins", pinning, 1};

static const struct option_group *const pin_groups[] = {&group_pinning, &group_plain, &group_help,
                                                        NULL};

static const char *const pin_examples[] = {
    "abba pin archive/20240506T070809Z-flow-pingpong-1a2b3c4d",
    "'abba prune' never removes it, nor a pack of it beside it",
    "abba pin --undo archive/20240506T070809Z-flow-pingpong-1a2b3c4d", "take the pin away", NULL};

/* ---- prune ---- */

static void decide(const struct prune_list *list, struct keep_item *items,
                   const struct keep_rule *rule, uint64_t max_bytes, uint64_t *stay)
{
    for (size_t i = 0; i < list->count; i++)
        items[i] = (struct keep_item){
            .series = list->items[i].report.series,
            .started_s = list->items[i].started_s,
            .bytes = list->items[i].bytes,
            .pinned = list->items[i].pinned,
        };
    *stay = keep_decide(items, list->count, rule, max_bytes, clock_real_ns() / NSEC_PER_SEC);
}

static void say_item(struct buf *out, const struct prune_item *x, const char *done, const char *why)
{
    buf_printf(out, "%s  %s  %s  ", done, x->name, verdict_name(x->report.verdict));
    packs_say_bytes(out, x->bytes);
    buf_printf(out, "  %s\n", why);
}

/* Removes what is to go and tells of it. */
static int remove_all(const struct settings *s, const struct prune_list *list,
                      const struct keep_item *items, struct buf *out, struct err *err)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct prune_item *x = &list->items[i];

        if (packs_stop() && *packs_stop())
            return err_set(err, ERR_INTERRUPTED, "interrupted");
        if (!items[i].drop) {
            say_item(out, x, "keeps", x->pinned ? "pinned" : "");
            continue;
        }
        if (!s->dry_run && prune_remove(list, x, items[i].drop, err) < 0)
            return -1;
        say_item(out, x, s->dry_run ? "would remove" : "removed", items[i].drop);
    }
    return 0;
}

static int report_all(struct settings *s, const struct prune_list *list,
                      const struct keep_item *items, struct err *err)
{
    struct buf out = BUF_INIT;

    if (packs_hold_signals(err) < 0)
        return -1;
    int rc = remove_all(s, list, items, &out, err);
    packs_release_signals();
    for (size_t i = 0; i < list->left_alone.count; i++)
        buf_printf(&out, "left alone  %s\n", list->left_alone.items[i]);
    struct err second = {0};
    if (!s->quiet && terminal_print(out.data, out.len, &second) < 0 && rc == 0) {
        *err = second;
        rc = -1;
    }
    buf_release(&out);
    return rc;
}

static int too_large(const struct settings *s, uint64_t stay)
{
    struct buf text = BUF_INIT;

    packs_say_bytes(&text, stay);
    buf_addstr(&text, " stay, more than --max-size: they are pinned");
    terminal_note(s, text.data);
    buf_release(&text);
    return STATUS_INCOMPLETE;
}

static int prune(struct settings *s, struct err *err)
{
    const char *folder = s->operands.count ? s->operands.items[0] : "archive";
    struct prune_list list;
    struct keep_rule rule;
    uint64_t max_bytes = 0, stay;

    if (!s->keep && !s->max_size) {
        err_set(err, ERR_USAGE, "nothing says what stays");
        return err_hint(err, "--keep RULE, --max-size SIZE, or both");
    }
    if (s->keep && keep_parse(s->keep, &rule, err) < 0)
        return -1;
    if (s->max_size && units_parse_size(s->max_size, &max_bytes, err) < 0) {
        err->code = ERR_USAGE;
        return err_wrap(err, "option '--max-size'");
    }
    if (s->max_size && max_bytes == 0)
        return err_set(err, ERR_USAGE, "option '--max-size': found '%s'", s->max_size);
    if (prune_scan(&list, folder, &s->arena, err) < 0)
        return -1;
    struct keep_item *items = arena_array(&s->arena, list.count, sizeof *items);
    decide(&list, items, s->keep ? &rule : NULL, max_bytes, &stay);
    if (report_all(s, &list, items, err) < 0)
        return -1;
    return max_bytes > 0 && stay > max_bytes ? too_large(s, stay) : STATUS_PASSED;
}

const struct command_def command_prune = {
    .name = "prune",
    .operands = "[DIR]",
    .summary = "remove old archives by a rule, and keep their verdicts",
    .about =
        "Looks at the finished archives and packs in a folder (default: archive), and removes "
        "those that the rule does not keep. Of each stays a tombstone, NAME.tombstone.json, with "
        "digest and verdict. Pinned ones are never removed; unfinished and damaged archives, "
        "links, and all other folders and files are never touched. Exit 3: what is pinned is "
        "larger than --max-size.",
    .groups = prune_groups,
    .examples = prune_examples,
    .min_operands = 0,
    .max_operands = 1,
    .names = NAMES_FOLDER,
    .run = prune,
};

/* ---- pin ---- */

static int pin(struct settings *s, struct err *err)
{
    for (size_t i = 0; i < s->operands.count; i++)
        if (prune_pin(packs_trim(s->operands.items[i], &s->arena), !s->undo, err) < 0)
            return -1;
    return STATUS_PASSED;
}

const struct command_def command_pin = {
    .name = "pin",
    .operands = "ARCHIVE...",
    .summary = "keep archives whatever 'abba prune' is told",
    .about =
        "Adds the digest of an archive or a pack to the file PINNED in the folder that holds "
        "it. The archive itself is not changed. A pin holds for what bears that digest in that "
        "folder, the archive and its packs, under any name; PINNED is text and may be edited.",
    .groups = pin_groups,
    .examples = pin_examples,
    .min_operands = 1,
    .max_operands = -1,
    .names = NAMES_FOLDER,
    .run = pin,
};

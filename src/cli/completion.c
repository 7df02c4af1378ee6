#include "cli/help.h"

#include "base/buf.h"
#include "cli/options.h"

#include <string.h>

/* What completes the argument of an option, as a bash statement. */
static void bash_argument(const struct option_def *o, struct buf *out)
{
    if (o->choices) {
        buf_addstr(out, "COMPREPLY=($(compgen -W '");
        for (const char *const *c = o->choices; *c; c++)
            buf_printf(out, "%s%s", c == o->choices ? "" : " ", *c);
        buf_addstr(out, "' -- \"$cur\"))");
        return;
    }
    switch (o->names) {
    case NAMES_FILE:
        buf_addstr(out, "COMPREPLY=($(compgen -f -- \"$cur\"))");
        break;
    case NAMES_FOLDER:
        buf_addstr(out, "COMPREPLY=($(compgen -d -- \"$cur\"))");
        break;
    case NAMES_METRIC:
        buf_addstr(out, "COMPREPLY=($(compgen -W '$(_abba_names metrics)' -- \"$cur\"))");
        break;
    case NAMES_EVENT:
        buf_addstr(out, "COMPREPLY=($(compgen -W '$(_abba_names events)' -- \"$cur\"))");
        break;
    default:
        buf_addch(out, ':');
    }
}

/* "[this|that]" or "this": operands that are words of their own, not names of something. */
static bool is_choice(const char *operands)
{
    return *operands && strspn(operands, "[|]abcdefghijklmnopqrstuvwxyz") == strlen(operands);
}

static void bash_choice(const char *operands, struct buf *out)
{
    buf_addstr(out, "        [[ $cur == -* ]] || words='");
    for (; *operands; operands++) {
        if (*operands != '[' && *operands != ']')
            buf_addch(out, *operands == '|' ? ' ' : *operands);
    }
    buf_addstr(out, "'\n");
}

static void bash_command(const struct command_def *c, struct buf *out)
{
    const struct option_def *o;
    buf_printf(out, "    %s)\n        case $prev in\n", c->name);
    for (size_t i = 0; (o = option_at(c, i)) != NULL; i++) {
        if (!o->arg)
            continue;
        buf_addstr(out, "        ");
        if (o->letter)
            buf_printf(out, "-%c|", o->letter);
        buf_printf(out, "--%s) ", o->name);
        bash_argument(o, out);
        buf_addstr(out, "; return ;;\n");
    }
    buf_addstr(out, "        esac\n        words='");
    for (size_t i = 0; (o = option_at(c, i)) != NULL; i++) {
        if (o->letter)
            buf_printf(out, "-%c ", o->letter);
        buf_printf(out, "--%s ", o->name);
    }
    buf_addstr(out, "'\n");
    if (c->names == NAMES_PROFILE)
        buf_addstr(out, "        [[ $cur == -* ]] || words=$(_abba_names profiles)\n");
    else if (is_choice(c->operands))
        bash_choice(c->operands, out);
    else if (c->names == NAMES_FOLDER || c->names == NAMES_FILE)
        buf_printf(out,
                   "        [[ $cur == -* ]] || { COMPREPLY=($(compgen -%c -- \"$cur\")); "
                   "return; }\n",
                   c->names == NAMES_FOLDER ? 'd' : 'f');
    buf_addstr(out, "        ;;\n");
}

void help_bash(struct buf *out)
{
    buf_addstr(out,
               "# bash completion for abba, made by `abba completion bash`\n"
               "_abba_names()\n{\n    abba list --names \"$1\" 2>/dev/null\n}\n"
               "_abba()\n{\n"
               "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words\n"
               "    if ((COMP_CWORD == 1)); then\n        words='--help --version");
    for (const struct command_def *const *c = cli_commands; *c; c++)
        buf_printf(out, " %s", (*c)->name);
    buf_addstr(out, "'\n        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n        return\n"
                    "    fi\n    case ${COMP_WORDS[1]} in\n");
    for (const struct command_def *const *c = cli_commands; *c; c++)
        bash_command(*c, out);
    buf_addstr(out, "    *) return ;;\n    esac\n"
                    "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\n"
                    "complete -o filenames -o bashdefault -F _abba abba\n");
}

/* Why a program did not start, for people. */
#include "run/launch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"

const char *launch_step_text(uint32_t step)
{
    static const char *const texts[] = {
        [WIRE_STEP_NONE] = "nothing",
        [WIRE_STEP_NAMESPACES] = "make a pid namespace",
        [WIRE_STEP_IDENTITY] = "map the user into a user namespace",
        [WIRE_STEP_MOUNT] = "mount a private /proc",
        [WIRE_STEP_MESSAGE] = "understand what to start",
        [WIRE_STEP_FORK] = "make a process",
        [WIRE_STEP_NETWORK] = "enter the network namespace",
        [WIRE_STEP_STDIO] = "connect standard input and output",
        [WIRE_STEP_FOLDER] = "enter the folder",
        [WIRE_STEP_CPUS] = "bind to the CPUs",
        [WIRE_STEP_EXEC] = "execute the program",
    };

    return step < sizeof(texts) / sizeof(texts[0]) ? texts[step] : "do an unknown step";
}

/* The interpreter that a script's first line names: 0, or -1 if the file has none. */
static int read_interpreter(const char *program, char *out, size_t size)
{
    char line[512];
    int n = files_read_small(program, line, sizeof(line));
    char *p, *end;

    if (n < 3 || line[0] != '#' || line[1] != '!')
        return -1;
    p = line + 2 + strspn(line + 2, " \t");
    end = p + strcspn(p, " \t\r\n");
    *end = '\0';
    snprintf(out, size, "%s", p);
    return *p != '\0' ? 0 : -1;
}

static void explain_exec(int why, const char *program, char *out, size_t size)
{
    char interpreter[256];
    struct stat st;

    if (why == ENOENT && stat(program, &st) == 0) {
        if (read_interpreter(program, interpreter, sizeof(interpreter)) == 0)
            snprintf(out, size, "program '%s' needs the interpreter '%s', which does not exist",
                     program, interpreter);
        else
            snprintf(out, size,
                     "program '%s' needs a loader (its ELF interpreter) that does not exist",
                     program);
    } else if (why == ENOENT || why == ENOTDIR) {
        snprintf(out, size, "program '%s' does not exist", program);
    } else if (why == EACCES && stat(program, &st) == 0 && S_ISDIR(st.st_mode)) {
        snprintf(out, size, "program '%s' is a folder", program);
    } else if (why == EACCES && access(program, X_OK) == 0 &&
               read_interpreter(program, interpreter, sizeof(interpreter)) == 0) {
        snprintf(out, size, "program '%s' needs the interpreter '%s', which is not executable",
                 program, interpreter);
    } else if (why == EACCES) {
        snprintf(out, size, "program '%s' is not executable (permission denied)", program);
    } else if (why == ENOEXEC) {
        snprintf(out, size,
                 "program '%s' is neither a program of this machine nor a script with a #! line",
                 program);
    } else if (why == E2BIG) {
        snprintf(out, size, "arguments and environment of '%s' are too long for this kernel",
                 program);
    } else if (why == ETXTBSY) {
        snprintf(out, size, "program '%s' is being written to", program);
    } else {
        snprintf(out, size, "program '%s' cannot be executed: %s", program, strerror(why));
    }
}

void launch_explain(const struct wire_failed *failed, const char *program, const char *folder,
                    char *out, size_t size)
{
    const int why = failed->sys_errno;

    if (failed->step == WIRE_STEP_EXEC)
        explain_exec(why, program, out, size);
    else if (failed->step == WIRE_STEP_FOLDER)
        snprintf(out, size, "cannot enter the folder '%s': %s", folder != NULL ? folder : ".",
                 strerror(why));
    else
        snprintf(out, size, "'%s' cannot be started: cannot %s: %s", program,
                 launch_step_text(failed->step), strerror(why));
}

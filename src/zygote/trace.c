/*
 * trace: holds processes at the moments when their memory maps say most: at their end, and before
 * they become another program.
 *
 * A process that has been seized is told of by wait4() at each of its stops (ptrace(2)). At
 * PTRACE_EVENT_EXIT its memory is still there. What it had mapped before an execve() is gone when
 * the kernel tells of the exec, so system calls are watched, too, up to a number: a program with
 * millions of them would take many times as long, and is long enough to be looked at without this.
 */
#include "zygote/zygote.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ptrace.h>

#define CALLS_WATCHED 8192 /* stops at system calls, of all processes of a run; some 5 us each */
#define AT_CALL (SIGTRAP | 0x80) /* PTRACE_O_TRACESYSGOOD */

static unsigned calls_left;

static long ask(long request, pid_t pid, unsigned long address, unsigned long data)
{
    return syscall(SYS_ptrace, request, (long)pid, address, data);
}

int trace_begin(pid_t pid)
{
    const unsigned long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXIT |
                                  PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                                  PTRACE_O_TRACECLONE;

    calls_left = CALLS_WATCHED;
    return ask(PTRACE_SEIZE, pid, 0, options) < 0 ? errno : 0;
}

static void resume(pid_t pid, int sig)
{
    const long how = calls_left > 0 ? PTRACE_SYSCALL : PTRACE_CONT;

    (void)ask(how, pid, 0, (unsigned long)sig); /* it may have been killed meanwhile */
}

static bool enters_exec(pid_t pid)
{
    struct ptrace_syscall_info info;

    if (ask(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), (unsigned long)&info) <= 0)
        return false;
    return info.op == PTRACE_SYSCALL_INFO_ENTRY &&
           (info.entry.nr == SYS_execve || info.entry.nr == SYS_execveat);
}

/* Stopped as a whole by one of these, it stays so until SIGCONT, as it would without a tracer. */
static bool is_group_stop(int sig)
{
    return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

bool trace_stop(pid_t pid, int status)
{
    const int sig = WSTOPSIG(status), event = status >> 16;

    if (event == PTRACE_EVENT_EXIT)
        return true;
    if (event == PTRACE_EVENT_STOP && is_group_stop(sig)) {
        (void)ask(PTRACE_LISTEN, pid, 0, 0);
    } else if (event != 0) { /* a new process or program */
        resume(pid, 0);
    } else if (sig == AT_CALL) {
        calls_left -= calls_left > 0;
        if (enters_exec(pid))
            return true;
        resume(pid, 0);
    } else { /* a signal on its way to it */
        resume(pid, sig);
    }
    return false;
}

void trace_go(pid_t pid)
{
    resume(pid, 0);
}

void trace_leave(pid_t pid)
{
    (void)ask(PTRACE_DETACH, pid, 0, 0);
}

/*
 * abba net PROFILE -- COMMAND...: any command inside a profile's network, to try the profile by
 * hand; or what the network does to packets that abba sends itself (--probe).
 */
#include "cli/commands.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/networks.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "model/network_text.h"
#include "model/plan.h"
#include "net/namespace.h"
#include "net/network.h"
#include "plan/load.h"
#include "plan/profiles.h"
#include "series/private_net.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROBE_PACKETS 1000

static const struct option_def here[] = {
    {.name = "role",
     .arg = "ROLE",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct settings, role),
     .absent = "the runner's first",
     .help = "in whose namespace the command runs, for a network of topology 'pair'"},
    {.name = "probe",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct settings, probe),
     .help = "send datagrams through the network and compare round trips and losses with what "
             "the profile says"},
    {.name = "seed",
     .arg = "N",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct settings, seed),
     .absent = "1",
     .help = "seed of everything random"},
};
static const struct option_group group_here = {"Where and how", here, sizeof(here) / sizeof(*here)};

static const struct option_group *const groups[] = {&group_here, &group_plain, &group_help, NULL};

static const char *const examples[] = {
    "abba net flow/1x-50M-light -- ping -c 5 127.0.0.1", "what a round trip takes there",
    "abba net flow/1x-50M-light --probe", "whether the network does what the profile says", NULL};

/* ---- the profile ---- */

/* The profile with its runner, for the roles. Of a matrix the first: the network is the same. */
static int load(struct settings *s, struct profile *profile, const struct runner **runner,
                struct err *err)
{
    struct plan *plan = arena_alloc(&s->arena, sizeof(*plan));
    struct profile file, *all;
    const char *path;
    size_t count;

    *plan = (struct plan){0};
    if (load_profile(s->operands.items[0], &file, &path, &s->arena, err) < 0 ||
        load_plan_runner(plan, file.runner, &s->arena, err) < 0)
        return -1;
    profile_expand(&file, &all, &count, &s->arena);
    *profile = all[0];
    *runner = plan_find_runner(plan, file.runner);
    if (profile_resolve(profile, *runner, path, &s->arena, err) < 0)
        return -1;
    if (profile->network.topology != NET_HOST)
        return 0;
    return err_set(err, ERR_CONFIG, "profile '%s' has no network: it runs on the host's loopback",
                   profile->name);
}

static int find_role(const struct settings *s, const struct runner *runner, size_t *role,
                     struct err *err)
{
    *role = 0;
    for (; s->role && *role < runner->role_count; ++*role)
        if (strcmp(runner->roles[*role].name, s->role) == 0)
            return 0;
    if (!s->role)
        return 0;
    return err_set(err, ERR_USAGE, "option '--role': runner '%s' has no role '%s'", runner->name,
                   s->role);
}

static int check_here(struct settings *s, const struct profile *profile, struct err *err)
{
    struct networks n = {0};
    const char *reason;

    if (networks_find_tables(profile, err) < 0 || networks_look(&n, &s->arena, err) < 0)
        return -1;
    reason = networks_why_not(&n, &profile->network);
    if (!reason)
        return 0;
    err_set(err, ERR_CONFIG, "profile '%s': its network is not to be had here: %s", profile->name,
            reason);
    return n.ability.hint ? err_hint(err, "%s", n.ability.hint) : -1;
}

/* ---- the command ---- */

_Noreturn static void become(char *const argv[], int user_ns, int net_fd)
{
    struct err err = {0};

    if ((user_ns >= 0 && namespace_permit(user_ns, &err) < 0) ||
        namespace_enter(net_fd, &err) < 0) {
        terminal_error(&err);
        _exit(STATUS_INCOMPLETE);
    }
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    execvp(argv[0], argv);
    err_sys(&err, ERR_USAGE, errno, "cannot start '%s'", argv[0]);
    terminal_error(&err);
    _exit(errno == ENOENT ? 127 : 126);
}

/* Its exit status, or 128 and the signal, as a shell has it. */
static int run_command(struct settings *s, int user_ns, int net_fd, struct err *err)
{
    char **argv = arena_array(&s->arena, s->operands.count, sizeof(*argv));
    int status = 0;
    pid_t pid;

    for (size_t i = 1; i < s->operands.count; i++)
        argv[i - 1] = arena_strdup(&s->arena, s->operands.items[i]);
    argv[s->operands.count - 1] = NULL;
    signal(SIGINT, SIG_IGN); /* the command's to answer */
    signal(SIGQUIT, SIG_IGN);
    pid = fork();
    if (pid < 0)
        return err_sys(err, ERR_SYSTEM, errno, "no process for the command");
    if (pid == 0)
        become(argv, user_ns, net_fd);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_sys(err, ERR_SYSTEM, errno, "the command was lost");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- what happened ---- */

static void say_count(struct buf *out, uint64_t count, const char *what)
{
    if (count != 0 && count != NET_UNKNOWN)
        buf_printf(out, ", %" PRIu64 " %s", count, what);
}

static void say_proof(const struct settings *s, const struct net_proof *proof)
{
    struct buf text = BUF_INIT;

    for (size_t i = 0; i < proof->flow_count; i++) {
        const struct net_flow_proof *f = &proof->flows[i];

        buf_clear(&text);
        buf_printf(&text, "%s, back end '%s': ", f->link, proof->backend);
        if (f->offered == NET_UNKNOWN)
            buf_addstr(&text, "packets not counted");
        else
            buf_printf(&text, "%" PRIu64 " packets", f->offered);
        say_count(&text, f->lost, "lost");
        say_count(&text, f->limit, "dropped over the queue's limit");
        say_count(&text, f->reordered, "reordered");
        say_count(&text, f->duplicated, "duplicated");
        say_count(&text, f->corrupted, "corrupted");
        if (f->late_p99_ns >= 0)
            buf_printf(&text, "; lateness p50 %.3g us, p99 %.3g us, largest %.3g us",
                       (double)f->late_p50_ns / 1e3, (double)f->late_p99_ns / 1e3,
                       (double)f->late_max_ns / 1e3);
        terminal_note(s, text.data);
    }
    if (proof->failed) {
        buf_clear(&text);
        buf_printf(&text, "the network did not do what was asked: %s", proof->failed);
        terminal_note(s, text.data);
    }
    buf_release(&text);
}

static int inside(struct settings *s, const struct net_request *q, size_t role, struct err *err)
{
    struct net_proof proof;
    struct net *net;
    int status;

    if (network_up(&net, q, err) < 0)
        return -1;
    status = run_command(s, q->user_ns, network_fd(net, role), err);
    if (status < 0) {
        network_kill(net);
        return -1;
    }
    if (network_down(net, &proof, &s->arena, err) < 0)
        return -1;
    say_proof(s, &proof);
    return status;
}

/* A line a figure. The status says whether network and model agree. */
static int probe(struct settings *s, struct net_request *q, struct err *err)
{
    struct net_probe p;
    struct buf out = BUF_INIT;
    int status;

    q->measure_anew = true;
    if (network_probe(&p, q, PROBE_PACKETS, &s->arena, err) < 0)
        return -1;
    buf_printf(&out, "sent         %d packets, %d came back\n", p.sent, p.received);
    if (p.received == 0)
        buf_printf(&out, "round trip   none; expected %.3f ms\n", 1e3 * p.expected_rtt_s);
    else
        buf_printf(&out, "round trip   min %.3f ms, p50 %.3f ms, p99 %.3f ms; expected %.3f ms\n",
                   1e3 * p.rtt_min_s, 1e3 * p.rtt_p50_s, 1e3 * p.rtt_p99_s, 1e3 * p.expected_rtt_s);
    buf_printf(&out, "loss         %.3g%% of the round trips; expected %.3g%%\n", 100 * p.loss,
               100 * p.expected_loss);
    if (p.capacity_packets_s)
        buf_printf(&out, "capacity     %" PRIu64 " packets/s\n", p.capacity_packets_s);
    buf_printf(&out, "agrees       %s%s%s\n", p.agrees ? "yes" : "no", p.reason ? ": " : "",
               p.reason ? p.reason : "");
    status = terminal_print(out.data, out.len, err) < 0 ? -1
             : p.agrees                                 ? STATUS_PASSED
                                                        : STATUS_INCOMPLETE;
    buf_release(&out);
    return status;
}

static int net(struct settings *s, struct err *err)
{
    struct profile profile;
    const struct runner *runner;
    struct run_host *host = NULL;
    struct net_request q;
    struct buf text = BUF_INIT;
    uint64_t seed = 1;
    size_t role;
    int status = -1;

    if (s->operands.count < 2 && !s->probe)
        return err_set(err, ERR_USAGE, "no command to run in the network of '%s'",
                       s->operands.items[0]);
    if (s->seed && !plan_parse_seed(s->seed, &seed))
        return err_set(err, ERR_USAGE, "--seed: '%s' is no whole number from 0 to 2^64 - 1",
                       s->seed);
    if (load(s, &profile, &runner, err) < 0 || find_role(s, runner, &role, err) < 0 ||
        check_here(s, &profile, err) < 0 || networks_host(&host, err) < 0)
        return -1;
    private_net_request(&q, seed, &profile, runner, 1, run_host_user_namespace(host), &s->arena);
    network_say(&profile.network, q.roles[0], q.role_count > 1 ? q.roles[1] : NULL, &text);
    terminal_note(s, text.data);
    if (s->probe)
        status = probe(s, &q, err);
    else
        status = inside(s, &q, role, err);
    run_host_close(host);
    buf_release(&text);
    return status;
}

const struct command_def command_net = {
    .name = "net",
    .operands = "PROFILE [-- COMMAND...]",
    .summary = "run a command in a profile's network, or probe that network",
    .about = "Makes the private network that the profile asks for, runs the command inside it and "
             "says what happened to its packets. The command's exit status is abba's. Nothing of "
             "the host's network changes, and the network ends with the command.",
    .groups = groups,
    .examples = examples,
    .min_operands = 1,
    .max_operands = -1,
    .names = NAMES_PROFILE,
    .run = net,
};

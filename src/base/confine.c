#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Changing files, as the first version of the interface has it. */
#define CHANGES                                                                                    \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                               \
     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | \
     LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |   \
     LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM)
#define REFER (1ULL << 13)    /* version 2: links and renames from folder to folder */
#define TRUNCATE (1ULL << 14) /* version 3 */

static uint64_t changes_of(long version)
{
    return CHANGES | (version >= 2 ? REFER : 0) | (version >= 3 ? TRUNCATE : 0);
}

static int allow(int rules, const char *folder, uint64_t access, struct err *err)
{
    struct landlock_path_beneath_attr below = {.allowed_access = access};
    int rc = 0;

    below.parent_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (below.parent_fd < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot open the folder '%s'", folder);
    if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0) != 0)
        rc = err_sys(err, ERR_SYSTEM, errno, "cannot confine to '%s'", folder);
    close(below.parent_fd);
    return rc;
}

int confine_open(const char *const *folders, int *fd, struct err *err)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    struct landlock_ruleset_attr rules = {.handled_access_fs = changes_of(version)};

    *fd = -1;
    if (version < 1)
        return 0;
    *fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    if (*fd < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot make a Landlock rule set");
    if (allow(*fd, "/dev", rules.handled_access_fs, err) < 0)
        goto fail;
    for (size_t i = 0; folders[i]; i++)
        if (allow(*fd, folders[i], rules.handled_access_fs, err) < 0)
            goto fail;
    return 0;
fail:
    close(*fd);
    *fd = -1;
    return -1;
}

int confine_self(int fd)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return (int)syscall(SYS_landlock_restrict_self, fd, 0);
}

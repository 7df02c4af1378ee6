/*
 * signature: who vouches for an archive. SHA256SUMS.sig beside SHA256SUMS signs that list, and with
 * it every file; `ssh-keygen -Y` makes and checks it (ssh-keygen(1), PROTOCOL.sshsig), in the
 * namespace "abba-archive". Nothing is asked for on a terminal: a key with a passphrase belongs
 * into an ssh-agent.
 */
#ifndef ABBA_ARCHIVE_SIGNATURE_H
#define ABBA_ARCHIVE_SIGNATURE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"

#define SIGNATURE_NAMESPACE "abba-archive"

/* Whether the key (a private key, or a public one whose private half an agent has) can sign here.
 * To be asked before the work that is to be signed. ERR_USAGE says why not. */
int signature_try(const char *key, struct err *err);

/* Signs a finished archive. ERR_SYSTEM; the archive is then as it was. */
int signature_make(const char *folder, const char *key, struct err *err);

/* Whether the archive has a signature. */
bool signature_is_there(const char *folder);

/*
 * Whether the signature is one of SHA256SUMS by one whom the allowed-signers file names; *who gets
 * the name. Without a file (NULL) only whether it fits SHA256SUMS, by whatever key; *who is then
 * the key's fingerprint, or NULL where there is no ssh-keygen. ERR_ARCHIVE, ERR_USAGE for the file.
 */
int signature_check(const char *folder, const char *signers, const char **who, struct arena *arena,
                    struct err *err);

#endif

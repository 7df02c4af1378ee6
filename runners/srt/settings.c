#include "settings.h"

#include <string.h>

/* Of libsrt 1.5.2 and later, where it is built with ENABLE_AEAD_API_PREVIEW (srt.h). */
enum { OPTION_CRYPTOMODE = 62 };

static int set(const struct library *lib, SRTSOCKET s, SRT_SOCKOPT option, const char *name,
               const void *value, size_t len, struct err *e)
{
    if (lib->setsockflag(s, option, value, (int)len) == 0)
        return 0;
    return library_error(lib, e, "libsrt %s refuses %s", lib->version, name);
}

static int set_int(const struct library *lib, SRTSOCKET s, SRT_SOCKOPT option, const char *name,
                   int64_t value, struct err *e)
{
    int number = (int)value;
    char shown[64];

    snprintf(shown, sizeof(shown), "%s %d", name, number);
    return set(lib, s, option, shown, &number, sizeof(number), e);
}

static int set_bool(const struct library *lib, SRTSOCKET s, SRT_SOCKOPT option, const char *name,
                    bool value, struct err *e)
{
    return set(lib, s, option, name, &value, sizeof(value), e);
}

/* FC comes before the buffer that it bounds, TRANSTYPE before all that it resets. */
static int set_transport(const struct library *lib, SRTSOCKET s, const struct options *o,
                         struct err *e)
{
    int64_t wait_ms = o->wait_ns / 1000000, idle_ms = o->idle_ns / 1000000;

    if (set_int(lib, s, SRTO_TRANSTYPE, "SRTO_TRANSTYPE", SRTT_LIVE, e) ||
        set_int(lib, s, SRTO_FC, "SRTO_FC", o->window, e) ||
        set_int(lib, s, SRTO_SNDBUF, "SRTO_SNDBUF", (int64_t)o->buffers, e) ||
        set_int(lib, s, SRTO_RCVBUF, "SRTO_RCVBUF", (int64_t)o->buffers, e) ||
        set_int(lib, s, SRTO_UDP_SNDBUF, "SRTO_UDP_SNDBUF", (int64_t)o->udp_buffers, e) ||
        set_int(lib, s, SRTO_UDP_RCVBUF, "SRTO_UDP_RCVBUF", (int64_t)o->udp_buffers, e) ||
        set_int(lib, s, SRTO_LATENCY, "SRTO_LATENCY", o->latency_ns / 1000000, e) ||
        set_int(lib, s, SRTO_CONNTIMEO, "SRTO_CONNTIMEO", wait_ms, e) ||
        set_int(lib, s, SRTO_PEERIDLETIMEO, "SRTO_PEERIDLETIMEO", idle_ms, e) ||
        set_bool(lib, s, SRTO_TLPKTDROP, "SRTO_TLPKTDROP", o->tlpktdrop, e) ||
        set_bool(lib, s, SRTO_SNDSYN, "SRTO_SNDSYN", false, e))
        return -1;
    return set_bool(lib, s, SRTO_RCVSYN, "SRTO_RCVSYN", false, e);
}

/* 1 where the library has no such cipher. */
static int set_cipher(const struct library *lib, SRTSOCKET s, const struct options *o,
                      struct err *e)
{
    int mode = (int)o->cryptomode;

    if (o->cryptomode == CRYPTO_AUTO ||
        lib->setsockflag(s, (SRT_SOCKOPT)OPTION_CRYPTOMODE, &mode, sizeof(mode)) == 0)
        return 0;
    if (o->cryptomode == CRYPTO_AES_CTR)
        return 0; /* what a library without the option always does */
    err_set(e,
            "libsrt %s has no cryptomode %s: 1.5.2 or later is needed, built with "
            "ENABLE_AEAD_API_PREVIEW",
            lib->version, cryptomode_name(o->cryptomode));
    return 1;
}

/* 1 where the library has none, or not that cipher. */
static int set_encryption(const struct library *lib, SRTSOCKET s, const struct options *o,
                          struct err *e)
{
    if (!o->passphrase[0])
        return 0;
    /* Its length was checked: a library that refuses it was built without encryption. */
    if (lib->setsockflag(s, SRTO_PASSPHRASE, o->passphrase, (int)strlen(o->passphrase)) != 0) {
        library_error(lib, e, "libsrt %s has no encryption, it refuses SRTO_PASSPHRASE",
                      lib->version);
        return 1;
    }
    if (o->key_length && set_int(lib, s, SRTO_PBKEYLEN, "SRTO_PBKEYLEN", o->key_length, e))
        return -1;
    return set_cipher(lib, s, o, e);
}

int settings_apply(const struct library *lib, SRTSOCKET s, const struct options *o, struct err *e)
{
    char name[320];
    int rc;

    if (set_transport(lib, s, o, e))
        return -1;
    rc = set_encryption(lib, s, o, e);
    if (rc)
        return rc;
    snprintf(name, sizeof(name), "SRTO_PACKETFILTER '%.250s'", o->filter);
    if (o->filter[0] && set(lib, s, SRTO_PACKETFILTER, name, o->filter, strlen(o->filter), e))
        return -1;
    return set_int(lib, s, SRTO_PAYLOADSIZE, "SRTO_PAYLOADSIZE", (int64_t)o->payload, e);
}

static int get_int(const struct library *lib, SRTSOCKET s, SRT_SOCKOPT option, const char *name,
                   int *value, struct err *e)
{
    int len = sizeof(*value);

    if (lib->getsockflag(s, option, value, &len) == 0)
        return 0;
    return library_error(lib, e, "cannot read %s", name);
}

static int latency_agreed(const struct library *lib, SRTSOCKET s, const struct options *o,
                          struct err *e)
{
    int64_t asked = o->latency_ns / 1000000;
    int own, peer;

    if (get_int(lib, s, SRTO_RCVLATENCY, "SRTO_RCVLATENCY", &own, e) ||
        get_int(lib, s, SRTO_PEERLATENCY, "SRTO_PEERLATENCY", &peer, e))
        return -1;
    if (own == asked && peer == asked)
        return 0;
    return err_set(e,
                   "latency mismatch: %lld ms were asked for here, the connection has %d ms, "
                   "as the peer asks for (the larger of both counts)",
                   (long long)asked, own > peer ? own : peer);
}

static int encryption_agreed(const struct library *lib, SRTSOCKET s, const struct options *o,
                             struct err *e)
{
    int wanted = o->passphrase[0] ? SRT_KM_S_SECURED : SRT_KM_S_UNSECURED;
    int out, in;

    if (get_int(lib, s, SRTO_SNDKMSTATE, "SRTO_SNDKMSTATE", &out, e) ||
        get_int(lib, s, SRTO_RCVKMSTATE, "SRTO_RCVKMSTATE", &in, e))
        return -1;
    /* Only the caller makes a key for both ways; a state that is still open is not a fault. */
    if ((out == wanted || out == SRT_KM_S_SECURING) && (in == wanted || in == SRT_KM_S_SECURING))
        return 0;
    return err_set(e, "the connection is %s, which was not asked for (key states %d, %d)",
                   o->passphrase[0] ? "not encrypted" : "encrypted", out, in);
}

int settings_agreed(const struct library *lib, SRTSOCKET s, const struct options *o, struct err *e)
{
    if (latency_agreed(lib, s, o, e))
        return -1;
    return encryption_agreed(lib, s, o, e);
}

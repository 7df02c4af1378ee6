#include "address.h"

#include "units.h"

#include <stdint.h>
#include <string.h>

int address_resolve(const char *address, const char *port, struct addrinfo **found, struct err *e)
{
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM,
                             .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
    int rc = getaddrinfo(address, port, &hints, found);

    if (rc)
        return err_set(e, "'%s' port '%s' is not a numeric address: %s", address, port,
                       gai_strerror(rc));
    return 0;
}

/* Cuts "ADDRESS:PORT" or "[ADDRESS]:PORT" in two, in place. */
static int split(char *text, char **address, char **port)
{
    char *colon = strrchr(text, ':');
    size_t len;

    if (!colon || colon == text || !colon[1])
        return -1;
    *colon = '\0';
    *port = colon + 1;
    len = strlen(text);
    if (text[0] == '[' && text[len - 1] == ']') {
        text[len - 1] = '\0';
        text++;
    }
    *address = text;
    return 0;
}

int address_parse(const char *text, struct addrinfo **found, struct err *e)
{
    uint64_t number;
    char copy[256];
    char *address;
    char *port;

    if (strlen(text) >= sizeof(copy))
        return err_set(e, "the address is too long");
    memcpy(copy, text, strlen(text) + 1);
    if (split(copy, &address, &port) || parse_integer(port, 1, 65535, &number))
        return err_set(e, "'%s' is not ADDRESS:PORT", text);
    return address_resolve(address, port, found, e);
}

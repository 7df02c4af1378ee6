/*
 * zygote_image: the static helper program, embedded in abba.
 *
 * The build links src/zygote into a static executable and puts its bytes between these two symbols.
 * They are read-only, and live as long as the program; whoever wants to execute them writes them
 * into a memfd first.
 */
#ifndef ABBA_RUN_ZYGOTE_IMAGE_H
#define ABBA_RUN_ZYGOTE_IMAGE_H

extern const unsigned char zygote_image[];
extern const unsigned char zygote_image_end[]; /* one past the last byte */

#endif

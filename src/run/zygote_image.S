/* The static zygote, byte for byte; ZYGOTE_IMAGE is its path, given by the Makefile. */
    .section .rodata
    .balign 16
    .global zygote_image
    .global zygote_image_end
    .type zygote_image, %object
    .type zygote_image_end, %object
zygote_image:
    .incbin ZYGOTE_IMAGE
zygote_image_end:
    .byte 0
    .size zygote_image, zygote_image_end - zygote_image
    .size zygote_image_end, 1
    .section .note.GNU-stack, "", %progbits

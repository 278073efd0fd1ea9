"""Bitrates of MPEG-1 layer III (ISO/IEC 11172-3): those that a request may name are those that the encoder takes."""

MP3_BITRATES_KBPS = (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)

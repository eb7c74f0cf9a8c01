/*
 * bytes.h
 *		Numbers in stored and portable forms: little endian, IEEE 754.
 *
 * Includes nothing of the server.
 */
#ifndef PRIVPRED_BYTES_H
#define PRIVPRED_BYTES_H

#include <stdint.h>
#include <string.h>

static inline uint32_t
read_u16(const unsigned char *p)
{
	return (uint32_t) p[0] | (uint32_t) p[1] << 8;
}

static inline void
write_u16(unsigned char *p, uint32_t value)
{
	p[0] = (unsigned char) value;
	p[1] = (unsigned char) (value >> 8);
}

static inline uint32_t
read_u32(const unsigned char *p)
{
	return read_u16(p) | read_u16(p + 2) << 16;
}

static inline void
write_u32(unsigned char *p, uint32_t value)
{
	write_u16(p, value);
	write_u16(p + 2, value >> 16);
}

static inline uint64_t
read_u64(const unsigned char *p)
{
	return (uint64_t) read_u32(p) | (uint64_t) read_u32(p + 4) << 32;
}

static inline void
write_u64(unsigned char *p, uint64_t value)
{
	write_u32(p, (uint32_t) value);
	write_u32(p + 4, (uint32_t) (value >> 32));
}

static inline double
read_double(const unsigned char *p)
{
	uint64_t bits = read_u64(p);
	double	 value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline void
write_double(unsigned char *p, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	write_u64(p, bits);
}

static inline float
read_float(const unsigned char *p)
{
	uint32_t bits = read_u32(p);
	float	 value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline void
write_float(unsigned char *p, float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	write_u32(p, bits);
}

#endif /* PRIVPRED_BYTES_H */

/*
 * full_disk.c
 *		A disk that is full when a file says so: preloaded into the server (LD_PRELOAD).
 *
 * The file $CRASH_FULL_DISK says "wal" (nothing can be written to pg_wal), or "data" (no
 * file below base/ can grow).  No file: there is room.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* What is full: 'w', 'd', or 0. */
static char
full(void)
{
	const char *flag = getenv("CRASH_FULL_DISK");
	char		what = 0;
	int			fd;

	if (flag == NULL || access(flag, R_OK) != 0)
		return 0;
	fd = open(flag, O_RDONLY);
	if (fd < 0)
		return 0;
	if (read(fd, &what, 1) != 1)
		what = 0;
	close(fd);
	return what;
}

/* Would this write, up to an offset, find no room? */
static int
no_room(int fd, off_t end)
{
	int			save_errno = errno;
	char		what = full();
	char		link[64];
	char		path[4096];
	ssize_t		length;
	struct stat st;
	int			none = 0;

	if (what != 0)
	{
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		length = readlink(link, path, sizeof(path) - 1);
		path[length > 0 ? length : 0] = '\0';
		if (what == 'w')
			none = strstr(path, "/pg_wal/") != NULL;
		else if (what == 'd')
			none = strstr(path, "/base/") != NULL && fstat(fd, &st) == 0 && end > st.st_size;
	}
	errno = none ? ENOSPC : save_errno;
	return none;
}

static off_t
total(const struct iovec *iov, int n)
{
	off_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += iov[i].iov_len;
	return sum;
}

#define REAL(name) ((__typeof__(&name)) dlsym(RTLD_NEXT, #name))

ssize_t
pwrite(int fd, const void *data, size_t size, off_t offset)
{
	static __typeof__(&pwrite) real = NULL;

	if (real == NULL)
		real = REAL(pwrite);
	return no_room(fd, offset + size) ? -1 : real(fd, data, size, offset);
}

ssize_t
pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
	return pwrite(fd, data, size, offset);
}

ssize_t
pwritev(int fd, const struct iovec *iov, int n, off_t offset)
{
	static __typeof__(&pwritev) real = NULL;

	if (real == NULL)
		real = REAL(pwritev);
	return no_room(fd, offset + total(iov, n)) ? -1 : real(fd, iov, n, offset);
}

ssize_t
pwritev64(int fd, const struct iovec *iov, int n, off64_t offset)
{
	return pwritev(fd, iov, n, offset);
}

int
posix_fallocate(int fd, off_t offset, off_t size)
{
	static __typeof__(&posix_fallocate) real = NULL;

	if (real == NULL)
		real = REAL(posix_fallocate);
	return no_room(fd, offset + size) ? ENOSPC : real(fd, offset, size);
}

int
posix_fallocate64(int fd, off64_t offset, off64_t size)
{
	return posix_fallocate(fd, offset, size);
}

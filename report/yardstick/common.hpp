// What all joins of the yardstick share: tuples in, results out, memory, and the clock.
//
// The compiler is told, as macros, KEY (uint32_t or uint64_t), STREAMS, and KEYS, how many keys a result shows: one
// where all keys of a result are equal, otherwise one for each stream, as in hardware.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>
#include <type_traits>
#include <sys/mman.h>

using u8 = uint8_t;
using u32 = uint32_t;
using u64 = uint64_t;

// A difference of two keys.
using Difference = std::conditional_t<sizeof(KEY) == 4, int64_t, __int128>;

struct Input {
  u64 tuples;
  u64 untimed;  // so many of them come before the clock starts
  const u8* stream;
  const KEY* key;
  const KEY* key2;  // null where tuples have none
  const u32* payload;
};

struct Result {
  KEY key[KEYS];
  u32 payload[STREAMS];
};

// Results go round in a ring whose size is a power of two.
struct Output {
  Result* ring;
  u64 mask;
  u64 results;
  double seconds;
};

struct Tuple {
  KEY key;
  u32 payload;
};

// Cleared memory in huge pages, if the system has some: a random access then misses the cache, but not the TLB, too.
template <class T>
class Array {
  struct Freed {
    void operator()(T* memory) const { free(memory); }
  };
  std::unique_ptr<T[], Freed> memory;

 public:
  explicit Array(size_t count) {
    constexpr size_t page = size_t(2) << 20;
    size_t bytes = (count * sizeof(T) + page - 1) / page * page;
    void* place = aligned_alloc(page, bytes);
    if (!place) throw std::bad_alloc();
    madvise(place, bytes, MADV_HUGEPAGE);
    memset(place, 0, bytes);
    memory.reset(static_cast<T*>(place));
  }
  T& operator[](size_t index) const { return memory[index]; }
  T* get() const { return memory.get(); }
};

// The time that this thread has had a core for itself; what others did on it meanwhile does not count.
inline double core_seconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

inline u32 bits_for(u64 count) { return count <= 1 ? 0 : 64 - __builtin_clzll(count - 1); }

// The join by comparing each tuple with the whole window of the other stream: any predicate on two streams.
//
// Whenever the predicate holds, r.key - s.key lies in one of RANGES ranges; so what matches a tuple has its key in one of
// so many ranges (first, length) of keys. HOLDS, an expression on the fields of two rows r and s, is the predicate itself
// and is asked where a key is in a range. RANGES is 0 where nothing is known of the difference: then all are asked.
//
// Tuples come in batches (of 64). First all of a batch are inserted; then each stretch of the other window, short enough to
// stay in the nearest cache, is compared with several tuples at a time, so that a key that has been loaded is compared
// with all of them. What is kept of such a block is only whether any key was in a range: the least of
// (key - first), without sign, is compared with the length at the end. Blocks in which there is one are gone through
// again, key by key, and there positions decide who is in whose window.

#include "common.hpp"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace {

constexpr u32 kBatch = 64;     // tuples of both streams
constexpr u32 kTogether = 8;   // tuples that are compared with a stretch at a time
constexpr u32 kStretch = 512;  // keys, at most
constexpr u32 kLanes = 64 / sizeof(KEY);
constexpr u32 kBound = RANGES ? RANGES : 1;

typedef KEY Keys __attribute__((vector_size(64), aligned(sizeof(KEY)), may_alias));

// A bit for each of the keys from `key` on that is at least `first`, and by no more than `length`.
inline u32 in_range(const KEY* key, KEY first, KEY length) {
#ifdef __AVX512F__
  const __m512i keys = _mm512_loadu_si512(key);
  if (sizeof(KEY) == 8) {
    const __m512i above = _mm512_sub_epi64(keys, _mm512_set1_epi64(int64_t(first)));
    return _mm512_cmple_epu64_mask(above, _mm512_set1_epi64(int64_t(length)));
  }
  const __m512i above = _mm512_sub_epi32(keys, _mm512_set1_epi32(int(first)));
  return _mm512_cmple_epu32_mask(above, _mm512_set1_epi32(int(length)));
#else
  u32 mask = 0;
  for (u32 lane = 0; lane < kLanes; lane++) mask |= u32(KEY(key[lane] - first) <= length) << lane;
  return mask;
#endif
}

// The window of a stream, in order in memory: when the end is reached, the window is copied back to the beginning.
struct Window {
  u32 width;
  size_t size;
  Array<KEY> key, key2;
  Array<u32> payload;
  size_t end = 0;
  explicit Window(u32 width)
      : width(width),
        size(2 * size_t(width) + 4096),
        key(size + kStretch),
        key2(KEY2 ? size + kStretch : 0),
        payload(size + kStretch) {}

  void make_room() {
    if (end + kBatch <= size) return;
    const size_t kept = std::min<size_t>(end, width), from = end - kept;
    std::copy(&key[from], &key[from] + kept, &key[0]);
    if (KEY2) std::copy(&key2[from], &key2[from] + kept, &key2[0]);
    std::copy(&payload[from], &payload[from] + kept, &payload[0]);
    end = kept;
  }
};

struct Row {
  KEY key, key2;
};

inline bool holds(const Row& r, const Row& s) {
  (void)r, (void)s;
  return HOLDS;
}

class Join {
  const Input in_;
  Difference low_[kBound], high_[kBound];  // of r.key - s.key
  Output& out_;
  Window windows_[2];
  u32 stretch_;
  // Of a batch, the tuples of either stream.
  u32 count_[2];
  u32 number_[2][kBatch];
  size_t stop_[2][kBatch];  // where the other window ended when it came
  KEY first_[2][kBound][kBatch + kTogether], length_[2][kBound][kBatch + kTogether];

 public:
  Join(const Input& in, Output& out, const u32* windows, const int64_t* bounds)
      : in_(in), out_(out), windows_{Window(windows[0]), Window(windows[1])} {
    for (u32 range = 0; range < RANGES; range++) {
      // Beyond all keys is far enough: so nothing that is added to a key overflows.
      const Difference most = Difference(KEY(-1));
      low_[range] = std::max<Difference>(std::min<Difference>(bounds[2 * range], most), -most);
      high_[range] = std::max<Difference>(std::min<Difference>(bounds[2 * range + 1], most), -most);
    }
    // Of the last stretch half is beyond the window, on average: long ones are for long windows.
    stretch_ = std::max(windows[0], windows[1]) > 2048 ? kStretch : kStretch / 4;
  }

  void run() {
    out_.results = 0;
    double started = core_seconds();
    for (u64 first = 0; first < in_.tuples; first += kBatch) {
      if (first <= in_.untimed) started = core_seconds();
      insert(first, u32(std::min<u64>(kBatch, in_.tuples - first)));
      for (u32 s = 0; s < 2; s++) scan(first, s);
    }
    out_.seconds = core_seconds() - started;
  }

 private:
  void insert(u64 first, u32 size) {
    for (Window& window : windows_) window.make_room();
    count_[0] = count_[1] = 0;
    for (u32 i = 0; i < size; i++) {
      const u32 s = in_.stream[first + i];
      const KEY key = in_.key[first + i];
      Window &own = windows_[s], &other = windows_[1 - s];
      const u32 n = count_[s]++;
      number_[s][n] = i;
      stop_[s][n] = other.end;
      for (u32 range = 0; range < RANGES; range++) find_range(s, range, n, key);
      own.key[own.end] = key;
      if (KEY2) own.key2[own.end] = in_.key2[first + i];
      own.payload[own.end] = in_.payload[first + i];
      own.end++;
    }
  }

  // Keys of the other stream that are as far from this one as a range says, cut off where keys end; one key, by mistake,
  // where there are none.
  void find_range(u32 s, u32 range, u32 n, KEY key) {
    const Difference most = KEY(-1), up = s ? high_[range] : -low_[range], down = s ? low_[range] : -high_[range];
    const Difference from = std::min(std::max<Difference>(Difference(key) + down, 0), most);
    const Difference to = std::max(std::min(Difference(key) + up, most), from);
    first_[s][range][n] = KEY(from);
    length_[s][range][n] = KEY(to - from);
  }

  // Compare the tuples of a batch that are of stream `s` with the other window.
  void scan(u64 first, u32 s) {
    if (!count_[s]) return;
    const Window& other = windows_[1 - s];
    const size_t oldest = stop_[s][0] - std::min<size_t>(stop_[s][0], other.width);
    for (size_t from = oldest; from < other.end; from += stretch_) {
      for (u32 n = 0; n < count_[s]; n += kTogether) {
        u32 any = compare(&other.key[from], s, n);
        if (count_[s] - n < kTogether) any &= (1u << (count_[s] - n)) - 1;
        for (; any; any &= any - 1) write_results(first, s, n + u32(__builtin_ctz(any)), from);
      }
    }
  }

  // Whether any key of a stretch is in a range of each of several tuples: a bit for each of these.
  u32 compare(const KEY* key, u32 s, u32 n) {
    u32 any = RANGES ? 0 : (1u << kTogether) - 1;
    for (u32 range = 0; range < RANGES; range++) {
      Keys first[kTogether], least[kTogether];
      for (u32 k = 0; k < kTogether; k++) {
        first[k] = Keys{} + first_[s][range][n + k];
        least[k] = ~Keys{};
      }
      for (u32 at = 0; at < stretch_; at += kLanes) {
        const Keys keys = *reinterpret_cast<const Keys*>(key + at);
        for (u32 k = 0; k < kTogether; k++) {
          const Keys above = keys - first[k];
          least[k] = above < least[k] ? above : least[k];
        }
      }
      for (u32 k = 0; k < kTogether; k++) {
        const KEY length = length_[s][range][n + k];
        any |= u32(in_range(reinterpret_cast<const KEY*>(&least[k]), 0, length) != 0) << k;
      }
    }
    return any;
  }

  // Results of tuple n of stream s with one stretch of the other window.
  __attribute__((noinline)) void write_results(u64 batch, u32 s, u32 n, size_t stretch) {
    const Window& other = windows_[1 - s];
    const u64 i = batch + number_[s][n];
    const u32 payload = in_.payload[i];
    const Row row = {in_.key[i], KEY2 ? in_.key2[i] : 0};
    const size_t stop = stop_[s][n], start = stop - std::min<size_t>(stop, other.width);
    const size_t from = std::max(stretch, start), to = std::min(stretch + stretch_, stop);
    Result* const results = out_.ring;
    const u64 mask = out_.mask;
    u64 count = out_.results;
    const auto write = [&](size_t place, const Row& seen, bool matches) {
      Result& result = results[count & mask];
      result.key[s % KEYS] = row.key;
      result.key[(1 - s) % KEYS] = seen.key;
      result.payload[s] = payload;
      result.payload[1 - s] = other.payload[place];
      count += matches;
    };
    const auto row_at = [&](size_t place) { return Row{other.key[place], KEY2 ? other.key2[place] : 0}; };
    if (RANGES) {
      for (size_t at = from; at < to; at += 64) {
        u64 hits = 0;
        for (u32 range = 0; range < RANGES; range++) {
          const KEY first = first_[s][range][n], length = length_[s][range][n];
          for (u32 k = 0; k < 64; k += kLanes) hits |= u64(in_range(&other.key[at + k], first, length)) << k;
        }
        if (to - at < 64) hits &= (u64(1) << (to - at)) - 1;
        for (; hits; hits &= hits - 1) {
          const size_t place = at + u32(__builtin_ctzll(hits));
          const Row seen = row_at(place);
          write(place, seen, s ? holds(seen, row) : holds(row, seen));
        }
      }
    } else if (from < to) {
      u8 hits[kStretch + 8] = {};
      if (s) {
        for (size_t at = from; at < to; at++) hits[at - from] = holds(row_at(at), row);
      } else {
        for (size_t at = from; at < to; at++) hits[at - from] = holds(row, row_at(at));
      }
      for (size_t at = from; at < to; at += 8) {
        u64 eight;
        memcpy(&eight, hits + (at - from), 8);
        for (; eight; eight &= eight - 1) {
          const size_t place = at + u32(__builtin_ctzll(eight)) / 8;
          write(place, row_at(place), true);
        }
      }
    }
    out_.results = count;
  }
};

}  // namespace

extern "C" int join(const Input* in, Output* out, const u32* windows, const int64_t* bounds) try {
  std::make_unique<Join>(*in, *out, windows, bounds)->run();
  return 0;
} catch (const std::bad_alloc&) {
  return 1;
}

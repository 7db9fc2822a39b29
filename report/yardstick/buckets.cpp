// The join by hash: of N streams by equal keys, or (BAND) of two streams by near ones.
//
// One table holds the windows of all streams, so that an arriving tuple looks up and inserts in the same cache line. A
// line is a bucket: the 16 youngest tuples that were hashed to it, youngest first. A tuple's lane is its position in its
// stream and, above that, a tag: its stream and a fingerprint of its key. What arrives subtracts all lanes from the lane
// of the youngest tuple that could match it. Where tags agree the difference is the tuple's age; elsewhere it is beyond
// any window. So a subtraction and a comparison of one vector find what is alive, of the right stream, and probably of
// the right key, and nothing is ever deleted. Insertion shifts the line by a lane.
//
// There are no branches that data decide, for at 0.2 results a tuple they would cost more than all the rest: a line in
// which something was found is copied aside, and the batch's copies are gone through afterwards, where keys are compared
// and results written.
//
// A tuple that leaves its line alive, because the line is crowded or because many keys are equal, joins the chain of its
// stream and bucket, youngest first. Chains end by position, too.
//
// Before positions outgrow their bits of a lane, all lanes are gone through and counted from low numbers again; what is
// dead becomes 0.
//
// BAND: r.key - s.key in [low, high]. With low added to S's keys, what matches R's key x are S's keys from x - reach to
// x, reach being high - low, and the other way round. Buckets then are cells of keys, somewhat wider than the band, so
// that a tuple looks into its own cell and sometimes into one beside it; and uppermost in the tag is the place in the
// cell, so that one more comparison of the same difference, with the band, leaves out whatever is not near.

#include "common.hpp"

#include <numeric>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace {

constexpr u32 kBatch = 128;
constexpr u32 kLanes = 16;
constexpr u32 kOthers = STREAMS - 1;
constexpr u32 kLookups = BAND ? 2 : 1;
constexpr u32 kStreamBits = STREAMS <= 2 ? 1 : STREAMS <= 4 ? 2 : STREAMS <= 8 ? 3 : 8;

struct alignas(64) Line {
  u32 lane[kLanes];
};

// A whole line at once: how to load and store it, what is near below a probe, and the line with one more tuple in it.
#ifdef __AVX512F__
using Lanes = __m512i;

inline Lanes load(const Line& line) { return _mm512_load_si512(&line); }
inline void store(Line& line, Lanes lanes) { _mm512_store_si512(&line, lanes); }
inline Lanes all(u32 value) { return _mm512_set1_epi32(int(value)); }

inline u32 matches(Lanes lanes, u32 probe, u32 window, u32 aged, u32 near) {
  const Lanes below = _mm512_sub_epi32(all(probe), lanes);
  if (!BAND) return _mm512_cmplt_epu32_mask(below, all(window));
  return _mm512_mask_cmplt_epu32_mask(_mm512_cmple_epu32_mask(below, all(near)), _mm512_and_si512(below, all(aged)), all(window));
}

inline Lanes inserted(Lanes lanes, u32 lane) { return _mm512_alignr_epi32(lanes, all(lane), kLanes - 1); }
#else
using Lanes = Line;

inline Lanes load(const Line& line) { return line; }
inline void store(Line& line, const Lanes& lanes) { line = lanes; }

inline u32 matches(const Lanes& lanes, u32 probe, u32 window, u32 aged, u32 near) {
  u32 mask = 0;
  for (u32 l = 0; l < kLanes; l++) {
    const u32 below = probe - lanes.lane[l];
    mask |= u32(BAND ? ((below & aged) < window) & (below <= near) : below < window) << l;
  }
  return mask;
}

inline Lanes inserted(const Lanes& lanes, u32 lane) {
  Lanes shifted;
  shifted.lane[0] = lane;
  std::copy(lanes.lane, lanes.lane + kLanes - 1, shifted.lane + 1);
  return shifted;
}
#endif

// What is decided before the first tuple comes. Loops work with copies of it that nothing they write can change.
struct Plan {
  u32 window[STREAMS];
  KEY low, reach;
  u32 widest, buckets;
  u32 room_bits;  // a ring of so many tuples keeps those of a stream
  u32 position_bits, tag_bits, stream_shift, key_shift;  // how lanes are made up
  u32 cell_bits = 0, unit_bits = 0;  // of keys: those of a cell, and of them those that lanes leave out
  u32 aged, near = 0;  // bits of a difference that are no place of a key; the greatest place that is near

  Plan(const u32* windows, int64_t lowest, int64_t highest) : low(KEY(lowest)), reach(KEY(highest) - KEY(lowest)) {
    std::copy(windows, windows + STREAMS, window);
    widest = *std::max_element(windows, windows + STREAMS);
    // Live tuples in a bucket, on average: fewer where there are so many buckets that one of them always is crowded.
    // Those that die within this batch or the next count as alive.
    const u64 all = std::accumulate(windows, windows + STREAMS, u64(2 * kBatch * STREAMS));
    buckets = u32(all / (all > 1 << 16 ? 3 : 4) + 1);
    room_bits = bits_for(widest + 3 * kBatch);
    position_bits = std::max(14u, std::min(28u, bits_for(16 * u64(widest))));
    u32 key_bits = 0;
    if (BAND) {
      // A cell is four to eight times as wide as the band, and what lanes tell apart in it a sixteenth of the band.
      const u32 reach_bits = bits_for(u64(reach) + 1);
      cell_bits = std::min(u32(8 * sizeof(KEY) - 1), reach_bits + 2);
      unit_bits = reach_bits > 4 ? reach_bits - 4 : 0;
      key_bits = std::min(cell_bits + 1 - unit_bits, 32 - kStreamBits - position_bits);
    }
    key_shift = 32 - key_bits;
    stream_shift = key_shift - kStreamBits;
    tag_bits = stream_shift - position_bits;
    const u64 units = (u64(reach) >> unit_bits) + 1 + (unit_bits > 0);
    if (BAND && key_bits) near = u32(std::min(units, u64(1) << key_bits) * (u64(1) << key_shift) - 1);
    if (BAND && !key_bits) near = u32(-1);
    aged = BAND && key_bits ? (u32(1) << key_shift) - 1 : u32(-1);
  }

  u32 old() const { return (u32(1) << position_bits) - 1; }
  u32 stream_of(u32 lane) const { return (lane >> (BAND ? stream_shift : 32 - kStreamBits)) & ((1u << kStreamBits) - 1); }
  u64 most() const { return (u64(1) << position_bits) - 4 * kBatch; }
  size_t at(u32 stream, u32 position) const {
    return (size_t(stream) << room_bits) + (position & ((u32(1) << room_bits) - 1));
  }
};

// What is known of the tuples of a batch before they are looked up.
struct alignas(64) Batch {
  u64 first;
  u32 size;
  u32 now[STREAMS][kBatch];  // how many tuples of a stream came before
  KEY cell[kLookups][kBatch];
  u32 bucket[kLookups][kBatch];
  u32 own[kBatch];  // the lane to be inserted
  u32 probe[kLookups][kOthers][kBatch];  // for the stream that comes so many streams after its own
  u32 window[kLookups][kOthers][kBatch];
};

inline u32 mixed(KEY cell) {
  return sizeof(KEY) == 4 ? u32(cell) * 0x9E3779B1u : u32((u64(cell) * 0x9E3779B97F4A7C15u) >> 32);
}

inline u32 only_if(bool condition, u32 value) { return value & -u32(condition); }

class Join {
  const Plan plan_;
  const Input in_;
  Output& out_;
  u32 now_[STREAMS];     // positions that come next; 0 is always dead
  u32 passed_[STREAMS] = {};  // what has to be added, for they begin anew from time to time
  Array<Line> table_;
  Array<Tuple> ring_;
  Array<u32> chain_, link_;  // of each bucket and stream the youngest in the chain; of each tuple the next older one
  u32 youngest_chained_[STREAMS] = {};
  u64 crowded_[1024] = {};  // a bit for some buckets together: whether any of them may have a chain
  Array<u32> combined_;  // of more than two streams, the payloads of what matches

  Batch batches_[2];
  Line found_[kBatch + 1][kLookups];
  u32 found_by_[kBatch + 1];
  u32 found_chain_[kBatch + 1][kLookups][STREAMS];
  static constexpr u32 kChained = u32(1) << 31;

 public:
  Join(const Input& in, Output& out, const Plan& plan)
      : plan_(plan),
        in_(in),
        out_(out),
        table_(plan.buckets),
        ring_(size_t(STREAMS) << plan.room_bits),
        chain_(size_t(STREAMS) * plan.buckets),
        link_(size_t(STREAMS) << plan.room_bits),
        combined_(STREAMS == 2 ? 0 : size_t(STREAMS) << plan.room_bits) {
    std::fill(now_, now_ + STREAMS, u32(1) << plan.room_bits);
  }

  void run() {
    out_.results = 0;
    double started = core_seconds();
    Batch *batch = &batches_[0], *next = &batches_[1];
    prepare(*batch, 0);
    while (batch->size) {
      if (batch->first <= in_.untimed) started = core_seconds();
      const bool full = *std::max_element(now_, now_ + STREAMS) > plan_.most();
      if (!full) prepare(*next, batch->first + batch->size);  // whose lines are fetched meanwhile
      keep(*batch);
      write_results(*batch, look_up(*batch));
      if (full) {
        renumber();
        prepare(*next, batch->first + batch->size);
      }
      std::swap(batch, next);
    }
    out_.seconds = core_seconds() - started;
  }

 private:
  // Whatever can be computed of many tuples at once, in loops so simple that the compiler makes vectors of them.
  __attribute__((noinline)) void prepare(Batch& batch, u64 first) {
    const Plan plan = plan_;
    const u8* const stream = in_.stream + first;
    const KEY* const key = in_.key + first;
    const u32 size = u32(std::min<u64>(kBatch, in_.tuples - first));
    batch.first = first;
    batch.size = size;
    for (u32 t = 0; t < STREAMS; t++) {
      u32 count = now_[t];
      for (u32 i = 0; i < size; i++) {
        batch.now[t][i] = count;
        count += stream[i] == t;
      }
      now_[t] = count;
    }
    alignas(64) u32 tag[kBatch];
    for (u32 lookup = 0; lookup < kLookups; lookup++) {
      place(plan, batch, tag, size, stream, key, lookup);
      if (!lookup) make_lanes(plan, batch, batch.own, tag, size, stream, key, 0);
      for (u32 d = 1; d < STREAMS; d++) {
        u32* const probe = batch.probe[lookup][d - 1];
        make_lanes(plan, batch, probe, tag, size, stream, key, d);
        for (u32 i = 0; i < size; i++) probe[i] -= 1;
        u32* const window = batch.window[lookup][d - 1];
        for (u32 i = 0; i < size; i++) {
          window[i] = 0;
          for (u32 t = 0; t < STREAMS; t++) window[i] += only_if(stream[i] == (t + STREAMS - d) % STREAMS, plan.window[t]);
        }
        // The cell beside one's own may be one's own.
        if (lookup) {
          for (u32 i = 0; i < size; i++) window[i] &= -u32(batch.cell[0][i] != batch.cell[1][i]);
        }
      }
    }
  }

  // Where tuples are looked up, and the fingerprints by which they are known there.
  void place(const Plan& plan, Batch& batch, u32* tag, u32 size, const u8* stream, const KEY* key, u32 lookup) {
    const KEY low = plan.low, up = lookup ? plan.reach : 0;
    for (u32 i = 0; i < size; i++) {
      const KEY s = -KEY(stream[i] & 1);
      const KEY cell = BAND ? KEY(key[i] + (low & s) + (up & s) - (up & ~s)) >> plan.cell_bits : key[i];
      const u64 place = u64(mixed(cell)) * plan.buckets;
      if (BAND) batch.cell[lookup][i] = cell;
      batch.bucket[lookup][i] = u32(place >> 32);
      tag[i] = u32(u64(u32(place)) >> (32 - plan.tag_bits)) << plan.position_bits;
    }
    for (u32 i = 0; i < size; i++) __builtin_prefetch(&table_[batch.bucket[lookup][i]], 1);
  }

  // The lane that a tuple would have that came now, from the stream `distance` streams after its own; of near keys the
  // uppermost.
  void make_lanes(
      const Plan& plan, const Batch& batch, u32* lane, const u32* tag, u32 size, const u8* stream, const KEY* key, u32 distance
  ) {
    const KEY up = plan.low + (distance ? plan.reach : 0);
    for (u32 i = 0; i < size; i++) {
      lane[i] = tag[i];
      if (BAND) lane[i] += u32(u64(u32(KEY(key[i] + (up & -KEY(stream[i] & 1))) >> plan.unit_bits)) << plan.key_shift);
      for (u32 t = 0; t < STREAMS; t++) {
        const bool is = stream[i] == (t + STREAMS - distance) % STREAMS;
        lane[i] += only_if(is, batch.now[t][i] + (t << plan.stream_shift));
      }
    }
  }

  // Keep the tuples of a batch themselves.
  __attribute__((noinline)) void keep(const Batch& batch) {
    const Plan plan = plan_;
    Tuple* const ring = ring_.get();
    const u8* const stream = in_.stream + batch.first;
    const KEY* const key = in_.key + batch.first;
    const u32* const payload = in_.payload + batch.first;
    for (u32 i = 0; i < batch.size; i++) ring[plan.at(stream[i], batch.own[i])] = {key[i], payload[i]};
  }

  // Look each tuple of a batch up, and insert it; how many of them have found something.
  __attribute__((noinline)) u32 look_up(const Batch& batch) {
    const Plan plan = plan_;
    const u32 size = batch.size, old = plan.old();
    Line* const table = table_.get();
    u32 candidates = 0;
    bool chained = false;
    // Of what leaves its line, we ask whether it will be alive when all has come that is known of: now or never.
    u32 newest[1 << kStreamBits] = {}, alive[1 << kStreamBits] = {};
    for (u32 t = 0; t < STREAMS; t++) {
      newest[t] = now_[t] - 1;
      alive[t] = plan.window[t] + 2 * kBatch;
      chained |= batch.now[t][0] + passed_[t] - youngest_chained_[t] <= plan.window[t];
    }
    for (u32 i = 0; i < size; i++) {
      Line& line = table[batch.bucket[0][i]];
      const u32 leaving = line.lane[kLanes - 1];
      const Lanes lanes[] = {load(line), load(table[batch.bucket[kLookups - 1][i]])};
      bool all = true;
      for (u32 d = 0; d < kOthers; d++) {
        u32 hits = 0;
        for (u32 lookup = 0; lookup < kLookups; lookup++) {
          hits |= matches(lanes[lookup], batch.probe[lookup][d][i], batch.window[lookup][d][i], plan.aged, plan.near);
        }
        all &= hits != 0;
      }
      for (u32 lookup = 0; lookup < kLookups; lookup++) store(found_[candidates][lookup], lanes[lookup]);
      found_by_[candidates] = i;
      const u32 t = plan.stream_of(leaving), age = (newest[t] - leaving) & old;
      if (__builtin_expect(chained | (age < alive[t]), 0)) {
        if (chained && note_chains(batch, i, candidates)) {
          found_by_[candidates] |= kChained;
          all = true;
        }
        if (age < alive[t]) {
          put_in_chain(t, newest[t] - age, batch.bucket[0][i]);
          chained = true;
        }
      }
      candidates += all;
      store(line, inserted(lanes[0], batch.own[i]));
    }
    return candidates;
  }

  u64& crowded(u32 bucket) { return crowded_[bucket / 64 % 1024]; }

  void put_in_chain(u32 stream, u32 position, u32 bucket) {
    u32& youngest = chain_[size_t(bucket) * STREAMS + stream];
    link_[plan_.at(stream, position)] = youngest;
    crowded(bucket) |= u64(1) << bucket % 64;
    youngest = position + passed_[stream];
    youngest_chained_[stream] = std::max(youngest_chained_[stream], youngest);
  }

  // Keep for later what chains this tuple has to follow; false if they are all dead.
  bool note_chains(const Batch& batch, u32 i, u32 candidate) {
    bool any = false;
    for (u32 lookup = 0; lookup < kLookups; lookup++) {
      const u32 bucket = batch.bucket[lookup][i];
      const bool none = !batch.window[lookup][0][i] || !(crowded(bucket) >> bucket % 64 & 1);
      for (u32 t = 0; t < STREAMS; t++) {
        const u32 youngest = none ? 0 : chain_[size_t(bucket) * STREAMS + t];
        found_chain_[candidate][lookup][t] = youngest;
        any |= batch.now[t][i] + passed_[t] - youngest <= plan_.window[t];
      }
    }
    return any;
  }

  __attribute__((noinline)) void write_results(const Batch& batch, u32 candidates) {
    const Plan plan = plan_;
    Result* const results = out_.ring;
    const u64 mask = out_.mask;
    u64 count = out_.results;
    for (u32 c = 0; c < candidates; c++) {
      const bool chained = found_by_[c] & kChained;
      const u32 i = found_by_[c] & ~kChained;
      const u32 s = in_.stream[batch.first + i], payload = in_.payload[batch.first + i];
      const KEY key = in_.key[batch.first + i];
      if (STREAMS == 2) {
        each_match(plan, batch, c, i, s, key, 0, chained, [&](const Tuple& tuple, bool holds) {
          Result& result = results[count & mask];
          result.key[s % KEYS] = key;
          result.key[(1 - s) % KEYS] = tuple.key;
          result.payload[s] = payload;
          result.payload[1 - s] = tuple.payload;
          count += holds;
        });
      } else {
        count = combine(plan, batch, c, i, s, key, chained, count);
      }
    }
    out_.results = count;
  }

  // Calls `use` with what may be of the stream `d` + 1 streams after that of tuple i, and whether it matches indeed.
  template <class Use>
  inline __attribute__((always_inline)) void each_match(
      const Plan& plan, const Batch& batch, u32 c, u32 i, u32 s, KEY key, u32 d, bool chained, Use use
  ) {
    const u32 t = s + d + 1 < STREAMS ? s + d + 1 : s + d + 1 - STREAMS;
    const u32 seen = batch.now[t][i];
    const Tuple* const tuples = ring_.get();
    for (u32 lookup = 0; lookup < kLookups; lookup++) {
      const u32 probe = batch.probe[lookup][d][i];
      u32 hits = matches(load(found_[c][lookup]), probe, batch.window[lookup][d][i], plan.aged, plan.near);
      while (hits) {
        const u32 age = (probe - found_[c][lookup].lane[__builtin_ctz(hits)]) & plan.old();
        const Tuple& tuple = tuples[plan.at(t, seen - 1 - age)];
        use(tuple, holds(plan, s, key, tuple.key, batch.cell[lookup][i]));
        hits &= hits - 1;
      }
      if (__builtin_expect(chained, 0)) {
        u32 position = found_chain_[c][lookup][t];
        while (seen + passed_[t] - position <= plan.window[t]) {
          const Tuple& tuple = tuples[plan.at(t, position)];
          use(tuple, holds(plan, s, key, tuple.key, batch.cell[lookup][i]));
          position = link_[plan.at(t, position)];
        }
      }
    }
  }

  // Two cells may share a bucket, and even a tag: what is of the one is no match of the other.
  static bool holds(const Plan& plan, u32 s, KEY arriving, KEY other, KEY cell) {
    if (!BAND) return arriving == other;
    const Difference low = std::make_signed_t<KEY>(plan.low), apart = Difference(arriving) - Difference(other);
    const Difference difference = s ? -apart : apart;
    const bool there = KEY(other + (s ? 0 : plan.low)) >> plan.cell_bits == cell;
    return there & (difference >= low) & (difference <= low + Difference(plan.reach));
  }

  // All combinations of the arriving tuple with a tuple of each other stream.
  u64 combine(const Plan& plan, const Batch& batch, u32 c, u32 i, u32 s, KEY key, bool chained, u64 results) {
    u32 count[STREAMS], at[STREAMS] = {};
    for (u32 d = 0; d < kOthers; d++) {
      const u32 t = (s + d + 1) % STREAMS;
      u32* const payloads = &combined_[plan.at(t, 0)];
      u32 matching = 0;
      each_match(plan, batch, c, i, s, key, d, chained, [&](const Tuple& tuple, bool holds) {
        payloads[matching] = tuple.payload;
        matching += holds;
      });
      count[t] = matching;
      if (!matching) return results;
    }
    combined_[plan.at(s, 0)] = in_.payload[batch.first + i];
    count[s] = 1;
    for (u32 t = 0; t < STREAMS;) {
      Result& result = out_.ring[results++ & out_.mask];
      result.key[0] = key;
      for (u32 u = 0; u < STREAMS; u++) result.payload[u] = combined_[plan.at(u, at[u])];
      for (t = 0; t < STREAMS && ++at[t] == count[t]; t++) at[t] = 0;
    }
    return results;
  }

  // Count positions from low numbers again: what is alive keeps its place in the ring, what is dead becomes 0.
  __attribute__((noinline)) void renumber() {
    const Plan plan = plan_;
    u32 newest[STREAMS], less[STREAMS];
    for (u32 t = 0; t < STREAMS; t++) {
      newest[t] = now_[t] - 1;
      less[t] = ((now_[t] >> plan.room_bits) - 1) << plan.room_bits;
      now_[t] -= less[t];
      passed_[t] += less[t];
    }
    u32* const lane = table_[0].lane;
    for (size_t l = 0; l < size_t(plan.buckets) * kLanes; l++) {
      u32 kept = 0;
      for (u32 t = 0; t < STREAMS; t++) {
        const bool alive = ((newest[t] - lane[l]) & plan.old()) < plan.window[t];
        kept |= only_if((plan.stream_of(lane[l]) == t) & alive, lane[l] - less[t]);
      }
      lane[l] = kept;
    }
    std::fill_n(crowded_, 1024, 0);
    for (u32 bucket = 0; bucket < plan.buckets; bucket++) {
      for (u32 t = 0; t < STREAMS; t++) {
        const bool alive = now_[t] + passed_[t] - chain_[size_t(bucket) * STREAMS + t] <= plan.window[t];
        crowded(bucket) |= u64(alive) << bucket % 64;
      }
    }
  }
};

}  // namespace

extern "C" int join(const Input* in, Output* out, const u32* windows, const int64_t* band) try {
  std::make_unique<Join>(*in, *out, Plan(windows, band[0], band[1]))->run();
  return 0;
} catch (const std::bad_alloc&) {
  return 1;
}

// The bulk driver: pushes a whole sequence of arrivals through a verilated design, one clock cycle after another.
//
// Compiled together with the model. The generated "ports.h" names the streams:
//   INPUTS(X)  X(number, port, places...) for each input stream, in port order
//   RESULT     the places of the result
// where the places are what a Places is made of, below. Tuples and results are rows of 32-bit words, the least
// significant first.
//
// One tuple, or one result, is the whole payload of its port, and a port each has its transfers for itself, unless
// ports have several slots: then the tuples of a cycle enter in one transfer of both input ports together (see
// streamjoin.hdl.base.ports.join_ports). Which of the two it is the compiler knows.
//
// Verilator spells the name a__b as a___05Fb.
//
// Each cycle: decide what to present, let the logic settle with the clock low, sample what it says, raise the clock.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "Vmodel.h"
#include "ports.h"

#if VM_TRACE_VCD
#include "verilated_vcd_c.h"
using Waves = VerilatedVcdC;
#elif VM_TRACE_FST
#include "verilated_fst_c.h"
using Waves = VerilatedFstC;
#elif VM_TRACE_SAIF
#include "verilated_saif_c.h"
using Waves = VerilatedSaifC;
#endif

#define COUNT(number, port, ...) +1
constexpr unsigned PORTS = 0 INPUTS(COUNT);

// Where items lie in the payload of a port, in bits: there are slots from bit 0 up, `stride` apart, and a count of
// those that hold an item. Between an item and the next slot stands how many items of the other port come before it,
// if that is told there. A single item is all of its payload.
struct Places {
    unsigned slots, item, stride, count_at, count_width;

    static constexpr unsigned words_for(unsigned bits) { return bits ? (bits + 31) / 32 : 1; }
    constexpr unsigned item_words() const { return words_for(item); }
    constexpr unsigned payload_words() const { return words_for(count_at + count_width); }
};

#define PLACES(number, port, ...) Places{__VA_ARGS__},
constexpr Places INPUT_PLACES[] = {INPUTS(PLACES)};
constexpr Places RESULT_PLACES{RESULT};
// Tuples of one stream that may enter in a cycle. With more than one, ports transfer together.
constexpr unsigned WIDTH = INPUT_PLACES[0].slots;
static_assert(WIDTH == 1 || PORTS == 2);
static_assert(INPUT_PLACES[PORTS - 1].slots == WIDTH);
constexpr unsigned RESULT_WORDS = RESULT_PLACES.item_words();
constexpr unsigned INPUT_WORDS = std::max(INPUT_PLACES[0].payload_words(), INPUT_PLACES[PORTS - 1].payload_words());

// ---- Shared with model.py: keep the two in step --------------------------------------------------------------------

struct StallPlan {
    double start;            // probability that a flowing cycle is followed by a stalled one
    double stop;             // probability that a stalled cycle is followed by a flowing one
    double first;            // probability that the first cycle is stalled
    uint64_t seed;
    const uint8_t* pattern;  // if length > 0: stalled where not 0, again and again; the rest is then ignored
    uint64_t length;
};

struct Request {
    uint64_t arrivals;
    uint64_t stride;           // words per arrival
    const uint8_t* stream;     // port number of each arrival
    const uint32_t* words;     // arrivals × stride
    const int64_t* offered;    // from which cycle each arrival waits, never decreasing; null: as fast as it is taken
    uint64_t queue;            // 0: what is not taken in the very cycle in which it is offered is dropped
    int64_t* accepted_cycle;   // out; stays as it was for what has not been accepted
    uint8_t* discarded;        // out
    StallPlan input_stalls;
    StallPlan output_stalls;
    uint64_t patience;
    uint64_t drain;            // 0: finished with the last acceptance
    uint64_t quiet;            // cycles of silence after the last acceptance before the drain
};

struct Report {
    uint64_t cycles, accepted, presented, results, stall_cycles, halted_cycles, dropped, overflows, lost;
    uint64_t valid, halted, drained, draining;  // as sampled in the last cycle
    uint64_t violator;                          // the arrival that was accepted too early
    uint64_t turned_away;                       // arrivals dropped in front of the design; accepted counts them
    uint64_t input_cycles;                      // cycles until the last arrival had been accepted or dropped
    uint64_t undrained_cycles;                  // cycles until drain went up
    uint64_t count;                             // of the transfer of results that had a wrong one
};

enum Status { FINISHED, MORE, STUCK, ORDER_VIOLATION, TORN, BAD_COUNT };

// ---- Payloads of any width -----------------------------------------------------------------------------------------

template <typename Port>
void assign(Port& port, const uint32_t* words) {
    if constexpr (sizeof(Port) > sizeof(uint32_t)) {
        port = words[0] | static_cast<uint64_t>(words[1]) << 32;
    } else {
        port = static_cast<Port>(words[0]);
    }
}

template <std::size_t Words>
void assign(VlWide<Words>& port, const uint32_t* words) {
    for (std::size_t word = 0; word < Words; ++word) port[word] = words[word];
}

template <typename Port>
void fetch(const Port& port, uint32_t* words) {
    words[0] = static_cast<uint32_t>(port);
    if constexpr (sizeof(Port) > sizeof(uint32_t)) words[1] = static_cast<uint32_t>(port >> 32);
}

template <std::size_t Words>
void fetch(const VlWide<Words>& port, uint32_t* words) {
    for (std::size_t word = 0; word < Words; ++word) words[word] = port[word];
}

// Copies bits from somewhere in one row of words to somewhere in another; what is around them stays.
void copy_bits(uint32_t* to, unsigned to_bit, const uint32_t* from, unsigned from_bit, unsigned bits) {
    while (bits) {
        const unsigned up = to_bit % 32, down = from_bit % 32, piece = std::min({bits, 32 - up, 32 - down});
        const uint32_t mask = ~uint32_t{0} >> (32 - piece);
        uint32_t& word = to[to_bit / 32];
        word = (word & ~(mask << up)) | (from[from_bit / 32] >> down & mask) << up;
        to_bit += piece;
        from_bit += piece;
        bits -= piece;
    }
}

// ---- Stalls --------------------------------------------------------------------------------------------------------

// Two states, flowing and stalled, with a chance each cycle to pass from one to the other (or a fixed pattern).
class Stalls {
public:
    Stalls() = default;
    // `salt` makes generators that share a plan independent of each other.
    Stalls(const StallPlan& plan, uint64_t salt)
        : m_plan{plan}, m_state{plan.seed + salt * 0xD1B54A32D192ED03u} {
        m_stalled = uniform() < plan.first;
    }

    // Whether the cycle that begins now is stalled; to be asked once a cycle.
    bool next() {
        if (m_plan.length) return m_plan.pattern[m_cycle++ % m_plan.length];
        if (m_plan.start == 0) return false;
        const bool now = m_stalled;
        m_stalled = m_stalled ? uniform() >= m_plan.stop : uniform() < m_plan.start;
        return now;
    }

    // How many slots may be filled in the cycle that begins now: none if it is stalled, and if any may be, any number
    // from one up, half of the times or more all of them. To be asked once a cycle.
    unsigned slots() {
        if (next()) return 0;
        if (!m_plan.length && m_plan.start == 0) return WIDTH;
        return std::min(WIDTH, 1 + static_cast<unsigned>(2 * WIDTH * uniform()));
    }

private:
    // splitmix64, scaled to [0, 1)
    double uniform() {
        uint64_t mixed = (m_state += 0x9E3779B97F4A7C15u);
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
        return static_cast<double>((mixed ^ (mixed >> 31)) >> 11) * 0x1p-53;
    }

    StallPlan m_plan{};
    uint64_t m_state = 0;
    uint64_t m_cycle = 0;
    bool m_stalled = false;
};

// ---- The driver ----------------------------------------------------------------------------------------------------

class Driver {
public:
    // `contents`: what memories hold before anything is written, as Verilator has it: zeros, ones, or drawn from `seed`.
    Driver(const char* waves_path, int contents, int seed) {
        m_context.threads(1);
        m_context.randReset(contents);
        m_context.randSeed(seed);
#if VM_TRACE
        m_context.traceEverOn(true);
#endif
        m_model = std::make_unique<Vmodel>(&m_context, "design");
#if VM_TRACE
        if (waves_path) {
            m_waves = std::make_unique<Waves>();
            m_model->trace(m_waves.get(), 99);
            m_waves->open(waves_path);
        }
#else
        (void)waves_path;
#endif
    }

    ~Driver() {
        m_model->final();
#if VM_TRACE
        if (m_waves) m_waves->close();
#endif
    }

    void reset(uint64_t cycles) {
        lower_all();
        m_model->rst = 1;
        for (; cycles; --cycles) {
            settle();
            clock();
        }
        m_model->rst = 0;
        settle();
        clock();  // the reset goes through a register (see verilate.py)
    }

    void begin(const Request& request) {
        m_request = request;
        m_report = Report{};
        m_idle = 0;
        m_silence = 0;
        m_result_words.clear();
        m_result_cycles.clear();
        for (unsigned port = 0; port < PORTS; ++port) m_input_stalls[port] = Stalls{request.input_stalls, port + 1};
        m_output_stalls = Stalls{request.output_stalls, 0};
    }

    // Goes on where the last call stopped, for at most `cycles` cycles.
    Status run(uint64_t cycles) {
        for (; cycles; --cycles) {
            const Status status = cycle();
            if (status != MORE) return status;
        }
        return MORE;
    }

    Report report() {
        m_report.dropped = m_model->dropped;
        m_report.overflows = m_model->overflows;
        m_report.lost = LOST(m_model);
        m_report.results = m_result_cycles.size();
        return m_report;
    }

    void results(uint32_t* words, int64_t* cycles) const {
        std::memcpy(words, m_result_words.data(), m_result_words.size() * sizeof(uint32_t));
        std::memcpy(cycles, m_result_cycles.data(), m_result_cycles.size() * sizeof(int64_t));
    }

private:
    Status cycle() {
        const bool drain = m_request.drain && m_report.accepted == m_request.arrivals && m_silence >= m_request.quiet;
        const bool ready = !m_output_stalls.next();
        m_model->drain = drain;
        m_model->o_result___05Fready = ready;
        if (WIDTH > 1) {
            present_together();
            if (!m_request.queue) turn_away_together();
        } else {
            present();
            if (!m_request.queue) turn_away();
        }
        settle();

        const bool valid = m_model->o_result___05Fvalid;
        const bool waiting = m_report.presented > m_report.accepted;
        const uint64_t accepted_before = m_report.accepted;
        const Status verdict = WIDTH > 1 ? accept_together() : accept();
        if (verdict != MORE) return verdict;
        if (valid && ready && !take_results()) return BAD_COUNT;
        const bool progress = m_report.accepted > accepted_before || (valid && ready);
        m_report.valid = valid;
        m_report.halted = m_model->halted;
        m_report.drained = m_model->drained;
        m_report.draining = drain;
        m_report.halted_cycles += m_report.halted;
        m_report.stall_cycles += waiting && m_report.accepted == accepted_before;

        clock();
        ++m_report.cycles;
        if (m_report.accepted > accepted_before) m_report.input_cycles = m_report.cycles;
        if (!drain) m_report.undrained_cycles = m_report.cycles;
        if (!drain && accepted_before == m_request.arrivals) m_silence = valid ? 0 : m_silence + ready;
        if (drain ? m_report.drained && !valid : !m_request.drain && m_report.accepted == m_request.arrivals) {
            return FINISHED;
        }
        // Only cycles in which the design could have moved try our patience.
        if (progress) {
            m_idle = 0;
        } else if (ready && (waiting || drain) && ++m_idle >= m_request.patience) {
            return STUCK;
        }
        return MORE;
    }

    // Raises valid for the arrivals that are due. Those presented together have rising port numbers, since within a
    // cycle the arrival order is the port order. A stall can hold back an arrival, but never one already presented.
    // Without a queue all that is offered in this cycle is presented in it; what cannot be is dropped at once.
    void present() {
        bool stalled[PORTS];
        for (unsigned port = 0; port < PORTS; ++port) stalled[port] = m_input_stalls[port].next();
        const uint8_t* stream = m_request.stream;
        int last = -1;  // port that was raised in this cycle, where there is no queue
        for (uint64_t& next = m_report.presented; next < m_request.arrivals && is_offered(next); ++next) {
            if (m_request.queue) {
                const bool follows = next == m_report.accepted || stream[next] > stream[next - 1];
                if (!follows || stalled[stream[next]]) return;
            } else if (stream[next] <= last || stalled[stream[next]]) {
                m_request.discarded[next] = 1;
                continue;
            }
            last = stream[next];
            raise(stream[next], words_of(next));
        }
    }

    // The same where ports have several slots: a transfer holds as many arrivals in a row as fit, and stays as it is
    // until it is taken. A stall leaves fewer slots, or none, to a port in a new transfer. Without a queue what does
    // not fit is dropped, and the others of its cycle go on without it.
    void present_together() {
        unsigned room[PORTS], filled[PORTS] = {};
        for (unsigned port = 0; port < PORTS; ++port) room[port] = m_input_stalls[port].slots();
        if (m_report.presented > m_report.accepted) return;
        for (uint64_t& next = m_report.presented; next < m_request.arrivals && is_offered(next); ++next) {
            const unsigned port = m_request.stream[next];
            if (filled[port] < room[port]) {
                fill(port, filled[port]++, words_of(next), filled[0]);
            } else if (m_request.queue) {
                break;
            } else {
                m_request.discarded[next] = 1;
            }
        }
        if (!filled[0] && !filled[PORTS - 1]) return;
        for (unsigned port = 0; port < PORTS; ++port) {
            const Places& places = INPUT_PLACES[port];
            copy_bits(m_payload[port], places.count_at, &filled[port], 0, places.count_width);
            raise(port, m_payload[port]);
        }
        m_offers = true;
    }

    // Slots that nobody fills keep what was in them.
    void fill(unsigned port, unsigned slot, const uint32_t* words, unsigned after) {
        const Places& places = INPUT_PLACES[port];
        const unsigned begin = slot * places.stride;
        copy_bits(m_payload[port], begin, words, 0, places.item);
        copy_bits(m_payload[port], begin + places.item, &after, 0, places.stride - places.item);
    }

    const uint32_t* words_of(uint64_t arrival) const { return m_request.words + arrival * m_request.stride; }

    bool is_offered(uint64_t arrival) const {
        return !m_request.offered || m_request.offered[arrival] <= static_cast<int64_t>(m_report.cycles);
    }

    // Drops what the design would not take of the arrivals presented in this cycle. Their valid goes down before a
    // clock edge has seen it, so none is ever withdrawn. Ready may depend on valid: one at a time, the earliest first.
    void turn_away() {
        m_model->clk = 0;
        m_model->eval();
        for (uint64_t arrival = m_report.accepted; arrival < m_report.presented; ++arrival) {
            const unsigned port = m_request.stream[arrival];
            if (m_request.discarded[arrival] || is_ready(port)) continue;
            m_request.discarded[arrival] = 1;
            m_taken = 1u << port;
            lower_taken();
            m_model->eval();
            arrival = m_report.accepted - 1;  // from the first again
        }
    }

    // The same where ports have several slots: all of the transfer is taken, or none.
    void turn_away_together() {
        if (!m_offers) return;
        m_model->clk = 0;
        m_model->eval();
        if (is_ready(0) || is_ready(PORTS - 1)) return;  // both, or accept_together() finds them out
        for (uint64_t arrival = m_report.accepted; arrival < m_report.presented; ++arrival) {
            m_request.discarded[arrival] = 1;
        }
        withdraw();
    }

    // Notes which of the presented arrivals are being taken, and lowers their valid after the clock edge (see clock()).
    Status accept() {
        for (uint64_t arrival = m_report.accepted; arrival < m_report.presented; ++arrival) {
            const unsigned port = m_request.stream[arrival];
            if (m_request.discarded[arrival]) {  // in front of the design
                ++m_report.turned_away;
                ++m_report.accepted;
                continue;
            }
            if (!is_ready(port)) continue;
            if (arrival != m_report.accepted) {
                m_report.violator = arrival;
                return ORDER_VIOLATION;
            }
            take(arrival);
            m_taken |= 1u << port;
        }
        return MORE;
    }

    // The same where ports have several slots. What has been dropped in front of the design is in no transfer.
    Status accept_together() {
        const bool taken = m_offers && is_ready(0);
        if (m_offers && taken != is_ready(PORTS - 1)) return TORN;
        if (m_offers && !taken) return MORE;
        while (m_report.accepted < m_report.presented) {
            if (m_request.discarded[m_report.accepted]) {
                ++m_report.turned_away;
                ++m_report.accepted;
            } else {
                take(m_report.accepted);
            }
        }
        if (taken) m_taken = (1u << PORTS) - 1;
        m_offers = false;
        return MORE;
    }

    void take(uint64_t arrival) {
        m_request.accepted_cycle[arrival] = static_cast<int64_t>(m_report.cycles);
        m_request.discarded[arrival] = m_model->discarding;
        ++m_report.accepted;
    }

    // False if the transfer does not hold from one result to as many as there are slots.
    bool take_results() {
        const std::size_t size = m_result_words.size();
        const int64_t cycle = static_cast<int64_t>(m_report.cycles);
        if (RESULT_PLACES.slots == 1) {
            m_result_words.resize(size + RESULT_WORDS);
            fetch(m_model->o_result___05Fpayload, &m_result_words[size]);
            m_result_cycles.push_back(cycle);
            return true;
        }
        uint32_t payload[RESULT_PLACES.payload_words()], count = 0;
        fetch(m_model->o_result___05Fpayload, payload);
        copy_bits(&count, 0, payload, RESULT_PLACES.count_at, RESULT_PLACES.count_width);
        m_report.count = count;
        if (!count || count > RESULT_PLACES.slots) return false;
        m_result_words.resize(size + count * RESULT_WORDS);
        for (unsigned slot = 0; slot < count; ++slot) {
            uint32_t* words = &m_result_words[size + slot * RESULT_WORDS];
            copy_bits(words, 0, payload, slot * RESULT_PLACES.stride, RESULT_PLACES.item);
        }
        m_result_cycles.insert(m_result_cycles.end(), count, cycle);
        return true;
    }

    void raise(unsigned port, const uint32_t* words) {
#define RAISE(number, port, ...)                     \
    case number:                                     \
        assign(m_model->port##___05Fpayload, words); \
        m_model->port##___05Fvalid = 1;              \
        break;
        switch (port) { INPUTS(RAISE) }
    }

    bool is_ready(unsigned port) const {
#define READY(number, port, ...) \
    case number: return m_model->port##___05Fready;
        switch (port) { INPUTS(READY) }
        return false;
    }

    void lower_taken() {
#define LOWER(number, port, ...) \
    if (m_taken & 1u << number) m_model->port##___05Fvalid = 0;
        INPUTS(LOWER)
        m_taken = 0;
    }

    void withdraw() {
        m_taken = ~0u;
        lower_taken();
        m_offers = false;
    }

    void lower_all() {
        withdraw();
        m_model->drain = 0;
        m_model->o_result___05Fready = 0;
    }

    void settle() {
        m_model->clk = 0;
        eval();
    }

    // The edge itself; the inputs change with the next falling one, so that what was sampled is what the edge saw.
    void clock() {
        m_model->clk = 1;
        eval();
        lower_taken();
    }

    void eval() {
        m_model->eval();
#if VM_TRACE
        if (m_waves) m_waves->dump(m_context.time());
        m_context.timeInc(1);
#endif
    }

    VerilatedContext m_context;
    std::unique_ptr<Vmodel> m_model;
#if VM_TRACE
    std::unique_ptr<Waves> m_waves;
#endif
    Request m_request{};
    Report m_report{};
    Stalls m_input_stalls[PORTS];
    Stalls m_output_stalls;
    uint64_t m_idle = 0;     // cycles without progress
    uint64_t m_silence = 0;  // cycles without a result, all input being in
    uint32_t m_taken = 0;    // ports whose transfer happens with the coming edge
    bool m_offers = false;   // where ports transfer together: a transfer is offered
    uint32_t m_payload[PORTS][INPUT_WORDS] = {};
    std::vector<uint32_t> m_result_words;
    std::vector<int64_t> m_result_cycles;
};

// ---- The interface for ctypes --------------------------------------------------------------------------------------

#pragma GCC visibility push(default)
extern "C" {
Driver* streamjoin_create(const char* waves_path, int contents, int seed) {
    return new Driver{waves_path, contents, seed};
}
void streamjoin_destroy(Driver* driver) { delete driver; }
void streamjoin_reset(Driver* driver, uint64_t cycles) { driver->reset(cycles); }
void streamjoin_begin(Driver* driver, const Request* request) { driver->begin(*request); }
int streamjoin_run(Driver* driver, uint64_t cycles) { return driver->run(cycles); }
void streamjoin_report(Driver* driver, Report* report) { *report = driver->report(); }
void streamjoin_results(Driver* driver, uint32_t* words, int64_t* cycles) { driver->results(words, cycles); }
}
#pragma GCC visibility pop

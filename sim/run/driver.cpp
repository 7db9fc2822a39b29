// The bulk driver: pushes a whole sequence of arrivals through a verilated design, one clock cycle after another.
//
// Compiled together with the model. The generated "ports.h" names the streams:
//   INPUTS(X)     X(number, port) for each input stream, in port order
//   RESULT_WORDS  the number of 32-bit words in a result
// Payloads are rows of 32-bit words, the least significant first.
//
// Verilator spells the name a__b as a___05Fb.
//
// Each cycle: decide what to present, let the logic settle with the clock low, sample what it says, raise the clock.

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

#define COUNT(number, port) +1
constexpr unsigned PORTS = 0 INPUTS(COUNT);

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
};

enum Status { FINISHED, MORE, STUCK, ORDER_VIOLATION };

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
        present();
        if (!m_request.queue) turn_away();
        settle();

        const bool valid = m_model->o_result___05Fvalid;
        const bool waiting = m_report.presented > m_report.accepted;
        const uint64_t accepted_before = m_report.accepted;
        if (!accept()) return ORDER_VIOLATION;
        if (valid && ready) take_result();
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
            raise(stream[next], m_request.words + next * m_request.stride);
        }
    }

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

    // Notes which of the presented arrivals are being taken, and lowers their valid after the clock edge (see clock()).
    bool accept() {
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
                return false;
            }
            m_request.accepted_cycle[arrival] = static_cast<int64_t>(m_report.cycles);
            m_request.discarded[arrival] = m_model->discarding;
            m_taken |= 1u << port;
            ++m_report.accepted;
        }
        return true;
    }

    void take_result() {
        const std::size_t size = m_result_words.size();
        m_result_words.resize(size + RESULT_WORDS);
        fetch(m_model->o_result___05Fpayload, &m_result_words[size]);
        m_result_cycles.push_back(static_cast<int64_t>(m_report.cycles));
    }

    void raise(unsigned port, const uint32_t* words) {
#define RAISE(number, port)                          \
    case number:                                     \
        assign(m_model->port##___05Fpayload, words); \
        m_model->port##___05Fvalid = 1;              \
        break;
        switch (port) { INPUTS(RAISE) }
    }

    bool is_ready(unsigned port) const {
#define READY(number, port) \
    case number: return m_model->port##___05Fready;
        switch (port) { INPUTS(READY) }
        return false;
    }

    void lower_taken() {
#define LOWER(number, port) \
    if (m_taken & 1u << number) m_model->port##___05Fvalid = 0;
        INPUTS(LOWER)
        m_taken = 0;
    }

    void lower_all() {
        m_taken = ~0u;
        lower_taken();
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

// What NCCL and the AWS plugin picked on 48 systems, computed by their own functions: every latency, bandwidth, pick,
// channel, thread, split and chunk.
#include <catch2/catch.hpp>
#include <map>

#include "choice/worked.hpp"
#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

using nlohmann::json;
using worked::examples;

const Nccl& nccl() {
    static const Nccl all = Catalogue::shipped().nccl();
    return all;
}

// The file has 6 digits.
bool alike(double a, double b) { return std::abs(a - b) <= 6e-6 * std::max(std::abs(a), std::abs(b)) + 6e-4; }

// The file gives 4 digits of a rate and of a time.
bool alike_time(double a, double b) { return std::abs(a - b) <= 1e-5 * std::max(a, b) + 6e-5; }

// A row of the file by the names of its columns.
struct Row {
    const json& columns;
    const json& row;
    const json& operator[](const char* column) const {
        for (std::size_t i = 0; i < columns.size(); ++i)
            if (columns[i] == column) return row[i];
        throw std::runtime_error(column);
    }
};

void check_split(const Communicator& c, Collective collective, const Pick& pick, const Row& row) {
    const bool by_rank = collective == Collective::all_gather || collective == Collective::reduce_scatter;
    const std::int64_t element = collective == Collective::all_gather || collective == Collective::broadcast ? 1 : 4;
    const Bytes size{row["total_bytes"].get<std::int64_t>()};
    const auto split = split_of(c, collective, pick, size, nccl());
    REQUIRE(split.size() == row["channels"]);
    CHECK(split.front().count == row["count_lo"].get<std::int64_t>() * element);
    if (split.size() > 1) {
        CHECK(split.back().count == row["count_hi"].get<std::int64_t>() * element);
        for (std::size_t i = 1; i + 1 < split.size(); ++i)
            CHECK(split[i].count == row["count_mid"].get<std::int64_t>() * element);
    }
    const Bytes first{split.front().count * (by_rank ? c.ranks : 1)};
    CHECK(chunk_of(c, collective, pick, first, nccl()).count == row["chunk_bytes"]);
}

void check_pick(const Communicator& c, const Row& row, const Pins& pins, const char* time) {
    const Collective collective = worked::collective_of(row["coll"]);
    const Bytes size{row["total_bytes"].get<std::int64_t>()};
    const Pick taken = pick(c, collective, size, nccl(), pins);
    INFO(name(collective) << " of " << size.count << ": " << name(taken.algorithm) << "/" << name(taken.protocol)
                          << " in " << taken.believed_us << ", expected " << row.row.dump());
    CHECK(name(taken.algorithm) == row["algo"]);
    CHECK(name(taken.protocol) == row["proto"]);
    CHECK(alike_time(taken.believed_us, row[time]));
    CHECK(taken.threads / 32 == row["warps"]);
    check_split(c, collective, taken, row);
}

}  // namespace

TEST_CASE("latency and bandwidth of every algorithm and protocol are NCCL's") {
    for (const json& system : examples().at("systems")) {
        const Communicator c = worked::communicator_of(system);
        for (const auto& [word, expected] : system.at("lat_us_bw_GBps").items()) {
            std::map<std::string, json> found;
            for (const Candidate& row : estimates(c, worked::collective_of(word), Bytes{1 << 20}, nccl()))
                if (row.bandwidth_gbps > 0)
                    found[std::string(name(row.algorithm)) + "/" + std::string(name(row.protocol))] = {
                        row.latency_us, row.bandwidth_gbps};
            INFO(system.at("id") << " " << word << " " << json(found).dump() << " expected " << expected.dump());
            REQUIRE(found.size() == expected.size());
            for (const auto& [pair, figures] : expected.items()) {
                REQUIRE(found.contains(pair));
                INFO(pair);
                CHECK(alike(found[pair][0], figures[0]));
                CHECK(alike(found[pair][1], figures[1]));
            }
        }
    }
}

TEST_CASE("NCCL alone: picks, channels, threads, splits and chunks") {
    Pins alone;
    alone.aws_tuner = false;
    for (const json& system : examples().at("systems")) {
        const Communicator c = worked::communicator_of(system);
        INFO(system.at("id"));
        for (const json& row : system.at("rows")) check_pick(c, {examples().at("columns"), row}, alone, "time_us");
    }
}

TEST_CASE("with the AWS tuner: picks, channels, threads, splits and chunks") {
    for (const json& system : examples().at("systems")) {
        const Communicator c = worked::communicator_of(system);
        INFO(system.at("id"));
        for (const json& json_row : system.at("aws_rows")) {
            const Row row{examples().at("aws_columns"), json_row};
            check_pick(c, row, {}, "nccl_model_time_us");
            const Bytes size{row["total_bytes"].get<std::int64_t>()};
            const Pick taken = pick(c, worked::collective_of(row["coll"]), size, nccl());
            CHECK(taken.asked_channels == row["override_channels"]);
            CHECK(taken.by == PickedBy::aws_tuner);
        }
    }
}

TEST_CASE("parts, channels and chunks of send and receive") {
    for (const json& block : examples().at("p2p")) {
        for (const json& system : examples().at("systems")) {
            if (system.at("id") != block.at("system")) continue;
            const Communicator c = worked::communicator_of(system);
            for (const json& json_row : block.at("rows")) {
                const Row row{block.at("columns"), json_row};
                const Bytes size{row["bytes_per_peer"].get<std::int64_t>()};
                const TransferPlan plan = plan_transfer(c, size, row["over_network"].get<bool>(), nccl());
                INFO(block.at("system") << " " << json_row.dump());
                CHECK(plan.channels == row["channels"]);
                CHECK(name(plan.protocol) == row["proto"]);
                CHECK(plan.chunk.count == row["chunk_bytes"]);
                CHECK(plan.part.count == row["part_bytes"]);
            }
        }
    }
}

TEST_CASE("the order of a rank's peers and the channels they begin at") {
    for (const json& schedule : examples().at("p2p_schedule")) {
        Communicator c;
        c.domains = schedule.at("nodes");
        c.ranks = c.domains * schedule.at("ranks_per_node").get<std::uint32_t>();
        c.p2p_channels = schedule.at("p2p_channels");
        const auto rounds = transfer_rounds(c, schedule.at("rank"), nccl());
        const json& expected = schedule.at("rounds_send_recv_channelbase");
        REQUIRE(rounds.size() >= expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            INFO(c.domains << " domains, round " << i);
            CHECK(rounds[i] == TransferRound{expected[i][0], expected[i][1], expected[i][2]});
        }
    }
}

}  // namespace fmsim

// The AWS plugin's regions against its own answers, and where it keeps out.
#include <catch2/catch.hpp>
#include <fstream>

#include "choice/worked.hpp"
#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

using nlohmann::json;

// What NCCL allows on such a communicator, as the vectors were made.
std::vector<Candidate> allowed(Collective collective, std::uint32_t ranks_a_domain) {
    std::vector<Candidate> table;
    for (const AlgorithmKind algorithm : kAlgorithmKinds)
        for (const Protocol protocol : kProtocols) {
            const bool all = collective == Collective::all_reduce, simple = protocol == Protocol::simple;
            const bool there = algorithm == AlgorithmKind::ring || (algorithm == AlgorithmKind::tree && all) ||
                               (algorithm == AlgorithmKind::nvls_tree && all && simple && ranks_a_domain > 1) ||
                               (algorithm == AlgorithmKind::pat && !all && simple && ranks_a_domain == 1);
            table.push_back({.algorithm = algorithm, .protocol = protocol, .refused = there ? "" : "no"});
        }
    return table;
}

Communicator like(const std::string& machine, std::uint32_t domains, std::uint32_t ranks_a_domain, const Nccl& nccl) {
    Communicator c;
    c.domains = domains;
    c.ranks = domains * ranks_a_domain;
    c.aws_tuner = machine;
    for (const Protocol protocol : kProtocols) c.fifo[protocol] = nccl.shape.protocols[protocol].buffer;
    return c;
}

}  // namespace

TEST_CASE("the regions answer as the plugin does") {
    const Nccl nccl = Catalogue::shipped().nccl();
    const json vectors = json::parse(std::ifstream(FMSIM_SOURCE_DIR "/tests/data/aws-region-vectors.json"));
    REQUIRE(vectors.at("rows").size() > 500);
    for (const json& row : vectors.at("rows")) {
        INFO(row.dump());
        const std::uint32_t ranks_a_domain = row[1];
        const Communicator c = like(row[0], row[2], ranks_a_domain, nccl);
        const Collective collective = worked::collective_of(row[3]);
        const auto found =
            aws_region(c, collective, Bytes{row[4].get<std::int64_t>()}, nccl, allowed(collective, ranks_a_domain));
        REQUIRE(found.has_value() == !row[5].is_null());
        if (!found) continue;
        CHECK(name(found->algorithm) == row[5]);
        CHECK(name(found->protocol) == row[6]);
        CHECK(found->channels == row[7]);
    }
}

TEST_CASE("the plugin keeps out of one and two domains, of other machines and of other collectives") {
    const Nccl nccl = Catalogue::shipped().nccl();
    const Collective all = Collective::all_reduce;
    const Bytes size{8 << 20};
    CHECK(aws_region(like("p5en", 4, 8, nccl), all, size, nccl, allowed(all, 8)));
    CHECK_FALSE(aws_region(like("p5en", 2, 8, nccl), all, size, nccl, allowed(all, 8)));
    CHECK_FALSE(aws_region(like("p5en", 1, 8, nccl), all, size, nccl, allowed(all, 8)));
    CHECK_FALSE(aws_region(like("p5en", 4, 4, nccl), all, size, nccl, allowed(all, 4)));
    CHECK_FALSE(aws_region(like("", 4, 8, nccl), all, size, nccl, allowed(all, 8)));
    CHECK_FALSE(aws_region(like("p5en", 4, 8, nccl), Collective::broadcast, size, nccl, allowed(all, 8)));
}

TEST_CASE("a region whose algorithm is not allowed is passed over") {
    const Nccl nccl = Catalogue::shipped().nccl();
    const Collective all = Collective::all_reduce;
    const Communicator c = like("p5en", 4, 8, nccl);
    auto table = allowed(all, 8);
    const auto before = aws_region(c, all, Bytes{64 << 20}, nccl, table);
    REQUIRE(before);
    for (Candidate& row : table)
        if (row.algorithm == before->algorithm && row.protocol == before->protocol) row.refused = "pinned away";
    const auto after = aws_region(c, all, Bytes{64 << 20}, nccl, table);
    CHECK((!after || after->algorithm != before->algorithm || after->protocol != before->protocol));
}

}  // namespace fmsim

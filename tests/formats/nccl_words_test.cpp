// NCCL's variables and the rules of its example tuner plugin: what they set, and what is refused.
#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "formats/refusal.hpp"

namespace fmsim::test {
namespace {

Pins with(const char* variable) {
    Pins pins;
    set_nccl_variable(variable, pins);
    return pins;
}

std::string refused(const char* variable) {
    return refusal([&] { with(variable); });
}

std::string refused_rule(const std::string& text) {
    return refusal([&] { parse_tuner_rules(text, "rules.csv"); });
}

constexpr const char* kAlgorithms = "tree, ring, collnetdirect, collnetchain, nvls, nvlstree, pat";

}  // namespace

TEST_CASE("a list of algorithms allows those, with ^ all others") {
    const auto row = [](const char* variable, Collective collective = Collective::all_reduce) {
        return with(variable).allowed[collective].algorithms.values;
    };
    using Flags = std::array<bool, 5>;  // Tree, Ring, NVLS, NVLSTree, PAT
    CHECK(row("NCCL_ALGO=ring") == Flags{false, true, false, false, false});
    CHECK(row("NCCL_ALGO=Tree,NVLSTREE") == Flags{true, false, false, true, false});
    CHECK(row("NCCL_ALGO=^pat,tree") == Flags{false, true, true, true, false});
    CHECK(row("NCCL_ALGO=^collnetdirect") == Flags{true, true, true, true, true});
    CHECK(row("NCCL_ALGO=collnetchain") == Flags{false, false, false, false, false});
    CHECK(row("NCCL_ALGO=allreduce:tree;allgather:^ring") == Flags{true, false, false, false, false});
    CHECK(row("NCCL_ALGO=allreduce:tree;allgather:^ring", Collective::all_gather) ==
          Flags{true, false, true, true, true});
    CHECK(row("NCCL_ALGO=allreduce:tree", Collective::reduce) == Flags{true, true, true, true, true});
    CHECK(row("NCCL_ALGO=ring;allreduce:tree") == Flags{true, false, false, false, false});
    CHECK(row("NCCL_ALGO=ring;allreduce:tree", Collective::broadcast) == Flags{false, true, false, false, false});
    CHECK(with("NCCL_PROTO=^LL128").allowed[Collective::reduce].protocols.values ==
          std::array<bool, 3>{true, false, true});
}

TEST_CASE("numbers of NCCL's variables") {
    CHECK(with("NCCL_MIN_NCHANNELS=4").least_channels == 4u);
    CHECK(with("NCCL_MAX_NCHANNELS=32").most_channels == 32u);
    CHECK_FALSE(with("NCCL_NVLS_ENABLE=0").nvls);
    CHECK(with("NCCL_NVLS_ENABLE=2").nvls);
    CHECK(with("NCCL_PXN_DISABLE=0").pxn);
    CHECK_FALSE(with("NCCL_PXN_DISABLE=1").pxn);
    CHECK(has_nccl_knob("NCCL_PXN_DISABLE=1"));
    CHECK_FALSE(has_nccl_knob("NCCL_IB_HCA=mlx5"));
    CHECK(with("NCCL_PAT_ENABLE=1").pat == true);
    CHECK(with("NCCL_PAT_ENABLE=0").pat == false);
    CHECK_FALSE(with("NCCL_PAT_ENABLE=2").pat.has_value());
    CHECK(with("NCCL_BUFFSIZE=8388608").simple_buffer == Bytes{8388608});
    CHECK(with("NCCL_P2P_NET_CHUNKSIZE=524288").p2p_net_chunk == Bytes{524288});
    CHECK(with("NCCL_NCHANNELS_PER_NET_PEER=2").channels_per_net_peer == 2u);
}

TEST_CASE("words that NCCL would pass over are refused") {
    CHECK(refused("NCCL_ALGO=rings") ==
          "--env NCCL_ALGO: expected some of: " + std::string(kAlgorithms) + "; found rings");
    CHECK(refused("NCCL_ALGO=") == "--env NCCL_ALGO: expected some of: " + std::string(kAlgorithms));
    CHECK(refused("NCCL_ALGO=all_reduce:ring") ==
          "--env NCCL_ALGO: expected a function: broadcast, reduce, allgather, reducescatter, allreduce; found "
          "all_reduce");
    CHECK(refused("NCCL_ALGO=ring;tree") ==
          "--env NCCL_ALGO: expected FUNCTION:LIST after the first list; found tree");
    CHECK(refused("NCCL_PROTO=LL64") == "--env NCCL_PROTO: expected some of: ll, ll128, simple; found LL64");
    CHECK(refused("NCCL_MAX_NCHANNELS=0") ==
          "--env NCCL_MAX_NCHANNELS: expected a whole number from 1 to 64; found 0");
    CHECK(refused("NCCL_PAT_ENABLE=yes") == "--env NCCL_PAT_ENABLE: expected a whole number from 0 to 2; found yes");
    CHECK(refused("NCCL_BUFFSIZE=8MiB") ==
          "--env NCCL_BUFFSIZE: expected a whole number from 4096 to 1073741824; found 8MiB");
    CHECK(refused("NCCL_CHEER=1").starts_with("--env: expected NAME=VALUE with one of NCCL_ALGO, NCCL_PROTO"));
    CHECK(refused("NCCL_ALGO").starts_with("--env: expected NAME=VALUE"));
}

TEST_CASE("rules of a tuner file") {
    const auto rules = parse_tuner_rules(
        "# collective,min,max,algo,proto,channels,nodes,ranks,pipe,reg\r\n"
        "\n"
        "allreduce,0,262143,tree,ll,-1,4,32\r\n"
        " allgather , 0 , 1048576 , nvls_tree , simple , 4 , -1 , -1 , 1 , 0 \n"
        "allreduce,0,9,collnet_direct,simple,4,-1,-1\n",
        "rules.csv");
    REQUIRE(rules.size() == 2);
    CHECK(rules[0].collective == Collective::all_reduce);
    CHECK(rules[0].most == Bytes{262143});
    CHECK(rules[0].algorithm == AlgorithmKind::tree);
    CHECK(rules[0].protocol == Protocol::ll);
    CHECK_FALSE(rules[0].channels);
    CHECK(rules[0].domains == 4u);
    CHECK(rules[0].ranks == 32u);
    CHECK_FALSE(rules[0].operations);
    CHECK(rules[1].collective == Collective::all_gather);
    CHECK(rules[1].algorithm == AlgorithmKind::nvls_tree);
    CHECK(rules[1].channels == 4u);
    CHECK_FALSE(rules[1].domains);
    CHECK(rules[1].operations == 1u);
    CHECK(rules[1].registered == 0u);
    CHECK(parse_tuner_rules("", "rules.csv").empty());
}

TEST_CASE("names that the plugin would take for others are refused with line and column") {
    CHECK(refused_rule("# head\nall_reduce,0,9,tree,ll,-1,4,32\n") ==
          "rules.csv:2: column 1: expected a collective: broadcast, reduce, allgather, reducescatter, allreduce; found "
          "all_reduce");
    CHECK(refused_rule("allreduce,0,9,NVLSTree,simple,-1,4,32\n") ==
          "rules.csv:1: column 4: expected an algorithm: tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, "
          "pat; found NVLSTree");
    CHECK(refused_rule("allreduce,0,9,tree,LL,-1,4,32\n") ==
          "rules.csv:1: column 5: expected a protocol: ll, ll128, simple; found LL");
    CHECK(refused_rule("allreduce,0,64K,tree,ll,-1,4,32\n") ==
          "rules.csv:1: column 3: expected a whole number of bytes; found 64K");
    CHECK(refused_rule("allreduce,0,9,tree,ll,-2,4,32\n") ==
          "rules.csv:1: column 6: expected a whole number, or -1 for any; found -2");
    CHECK(refused_rule("allreduce,0,9,tree,ll,-1,4\n") == "rules.csv:1: expected 8 to 10 columns; found 7");
}

}  // namespace fmsim::test

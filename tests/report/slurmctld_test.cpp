// Slurm itself as an oracle, where it is installed (Debian: slurmctld, slurm-client): its controller starts with the
// topology.conf that we write, and prints the cluster back.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "fmsim/report.hpp"
#include "formats/imports.hpp"

using namespace fmsim;
using namespace fmsim::test;

namespace {

namespace fs = std::filesystem;

bool is_installed(const char* program) {
    for (const char* const folder : {"/usr/sbin/", "/usr/bin/", "/usr/local/sbin/", "/usr/local/bin/"})
        if (fs::exists(std::string(folder) + program)) return true;
    return false;
}

int free_port() {
    const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    int port = 0;
    if (bind(descriptor, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
        getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0)
        port = ntohs(address.sin_port);
    close(descriptor);
    return port;
}

// A controller in a folder of its own, on loopback, without munge. It goes with this object.
class Controller {
public:
    Controller(const std::string& topology, const std::string& nodes) {
        std::string pattern = (fs::temp_directory_path() / "fmsim-slurm-XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
        fs::create_directory(folder_ / "state");
        std::ofstream(folder_ / "topology.conf") << topology;
        const std::string folder = folder_.string();
        std::ofstream(folder_ / "slurm.conf")
            << "ClusterName=fmsim\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort=" << free_port()
            << "\nSlurmUser=root\nSlurmdUser=root\nAuthType=auth/none\nCredType=cred/none\nStateSaveLocation=" << folder
            << "/state\nSlurmctldPidFile=" << folder
            << "/ctld.pid\nSwitchType=switch/none\nProctrackType=proctrack/pgid\n"
            << "TaskPlugin=task/none\nSelectType=select/linear\nTopologyPlugin=topology/tree\n"
            << "NodeName=" << nodes << " NodeAddr=127.0.0.1 State=CLOUD\nPartitionName=all Nodes=ALL Default=YES\n";
        process_ = fork();
        if (process_ != 0) return;
        const std::string log = folder + "/log", conf = folder + "/slurm.conf";
        if (std::freopen(log.c_str(), "w", stdout) == nullptr || dup2(STDOUT_FILENO, STDERR_FILENO) < 0) _exit(1);
        execlp("slurmctld", "slurmctld", "-D", "-f", conf.c_str(), nullptr);
        _exit(127);
    }
    ~Controller() {
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    Controller(const Controller&) = delete;
    Controller& operator=(const Controller&) = delete;

    // What `scontrol show topology` prints once the controller answers; its log when it never does.
    std::string shown() const {
        const std::string command =
            "SLURM_CONF=" + folder_.string() + "/slurm.conf timeout 5 scontrol show topology 2>/dev/null";
        for (int attempt = 0; attempt < 60; ++attempt) {
            if (const std::string text = output_of(command); has(text, "SwitchName=")) return text;
            std::this_thread::sleep_for(std::chrono::milliseconds(250));
        }
        return log();
    }
    std::string log() const {
        std::ostringstream text;
        text << std::ifstream(folder_ / "log").rdbuf();
        return text.str();
    }

private:
    static std::string output_of(const std::string& command) {
        std::string text;
        std::FILE* const pipe = popen(command.c_str(), "r");
        std::array<char, 4096> block{};
        while (const std::size_t n = std::fread(block.data(), 1, block.size(), pipe)) text.append(block.data(), n);
        pclose(pipe);
        return text;
    }

    fs::path folder_;
    pid_t process_{};
};

}  // namespace

TEST_CASE("Slurm's controller takes the topology.conf that we write, and shows the same tree") {
    if (!is_installed("slurmctld") || !is_installed("scontrol") || geteuid() != 0) {
        WARN("skipped: needs slurmctld and scontrol (Debian: slurmctld, slurm-client), as root");
        return;
    }
    Cluster cluster = shipped().cluster("p5.48xlarge:24");
    cluster.network.layers = {{.name = "leaf", .sizes = {2, 4, 6, 1, 11}}, {.name = "spine", .sizes = {2, 3}}};
    const Controller controller(to_slurm_conf(cluster), "n[01-24]");
    const std::string shown = controller.shown();
    INFO(shown);
    REQUIRE(has(shown, "SwitchName=leaf5 Level=0 LinkSpeed=1 Nodes=n[14-24]"));
    CHECK_FALSE(has(controller.log(), "TOPOLOGY:"));

    const Imported read = import_slurm_conf(shown, "scontrol", shipped(), {.type = "p5.48xlarge", .layers = {}});
    CHECK(layers_of(read.cluster) == "leaf 2,4,6,1,11 | spine 2,3");
    CHECK(read.cluster.instance_names.size() == 24);
    CHECK(read.cluster.instance_names[13] == "n14");
}

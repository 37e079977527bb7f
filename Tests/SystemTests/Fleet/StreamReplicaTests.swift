import AMQP
import TestKit
import Testing

extension ChangingWorkerTests {
    /// Fleet control in a cluster in which one of two nodes has a replica of the streams.
    @Suite struct StreamReplicas {
        @Test func `Workers and commands find the node with a replica`() async throws {
            let cluster = try await PrivateCluster(nodes: 2)
            var options = SystemFixture.Options()
            options.url = cluster.url
            options.sections = ["fleet: {report_interval: 1s}"]
            let fixture = try await SystemFixture("fleet-replica", broker: cluster.nodes[0].url, options)
            try await fixture.applyTopology()
            for stream in ["pauses", "commands"].map({ fixture.queue($0) }) {
                try await Self.deleteReplica(of: stream, in: cluster)
            }
            let doctor = try await ChildProcess.run(
                [Products.executable("martlet"), "doctor", "--config", fixture.configuration])
            let found = doctor.output.filter { $0.contains(" fleet control ") }
            let hosts = cluster.nodes.map { "127.0.0.1:\($0.port)" }
            try #require(found.count == 3, "\(doctor.output)")
            #expect(found[0].hasSuffix("\(hosts[0]): workers can read pauses and commands (1 of 2 hosts)"))
            for (line, stream) in zip(found[1...], ["pauses", "commands"]) {
                #expect(line.hasPrefix("warning "))
                #expect(line.hasSuffix("\(hosts[1]) has no replica of stream \(fixture.queue(stream))"))
            }
            // Each connection begins with a random node.
            var workers: [ChildProcess] = []
            for _ in 0..<4 { workers.append(try await fixture.worker()) }
            for round in 1...4 {
                for verb in ["pause", "resume"] {
                    let words =
                        [verb, "--fleet", "--topic", "com.example.app"] + (verb == "pause" ? ["--reason", "x"] : [])
                    let result = try await ChildProcess.run(
                        [Products.executable("martlet")] + words + ["--config", fixture.configuration])
                    #expect(result.exit.status == .exited(0), "\(round): \(result.errors)")
                    #expect(result.output.last?.contains("in force at 4 of 4 workers") == true, "\(result.output)")
                }
            }
            for worker in workers { _ = try await worker.stop() }
            _ = try await fixture.end()
            try await cluster.end()
        }

        /// Deletes the replica on the second node. If the second node leads the stream, the broker moves the lead.
        private static func deleteReplica(of stream: String, in cluster: PrivateCluster) async throws {
            try await cluster.nodes[0].rabbitmqctl(
                "eval",
                "ok = rabbit_stream_queue:delete_replica(<<\"/\">>, <<\"\(stream)\">>, '\(cluster.nodes[1].nodeName)')."
            )
        }
    }
}

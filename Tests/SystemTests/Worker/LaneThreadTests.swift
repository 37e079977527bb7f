import Glibc
import JSON
import TestKit
import Testing

extension SystemTests {
    /// Threads that cannot be started.
    ///
    /// The tests are not unit tests, because a sanitizer cannot map its own memory together with stacks of this size.
    @Suite struct LaneThread {
        @Test func aWorkerThatCannotStartAThreadExits() async throws {
            let fixture = try await SystemFixture("threadless")
            try await fixture.applyTopology()
            // A stack size of one pebibyte, which no machine can map.
            let command = "ulimit -s 1099511627776 && exec \"$0\" worker --config \"$1\""
            let result = try await ChildProcess.run([
                "/bin/sh", "-c", command, Products.executable("martlet"), fixture.configuration,
            ])
            #expect(result.exit.status == .exited(1))
            #expect(result.errors.contains { $0.contains("cannot start a thread") }, "\(result.errors)")
            try await fixture.end()
        }

        @Test func aReloadThatCannotStartThreadsIsRetried() async throws {
            var options = SystemFixture.Options(delays: ["1s"])
            let fixture = try await SystemFixture("fewthreads", options)
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            // Enough address space for some threads with stacks of 1 GiB, but not for 32.
            let command = "ulimit -s 1048576 && ulimit -v 10485760 && exec \"$0\" worker --config \"$1\""
            let worker = try await ChildProcess([
                "/bin/sh", "-c", command, Products.executable("martlet"), fixture.configuration,
            ])
            try await worker.waitForLog("ready")
            let samples = Sample.make(100)
            try await fixture.publish(Array(samples[..<50]))
            func change(lanes: Int, _ message: String) async throws -> JSONValue {
                options.lanes = lanes
                try fixture.write(options)
                worker.send(signal: SIGHUP)
                return try await worker.waitForLog(message).root
            }
            let refusal = try await change(
                lanes: 32, "configuration reload delayed, retrying")
            #expect(refusal["error"]?.string?.contains("cannot start a thread") == true)
            try await worker.waitForLog("previous lanes stopped")
            _ = try await change(lanes: 2, "configuration reloaded")
            try await fixture.publish(Array(samples[50...]))
            try await fixture.results(of: samples).expectAcceptedOnFirstAttempt(samples)
            _ = try await worker.stop()
            try await fixture.end()
        }
    }
}

import Glibc
import TestKit
import Testing

extension ChangingWorkerTests {
    /// What was pushed before the configuration changed is not pushed again after it.
    @Suite struct ReloadCopies {
        @Test func aCopyIsKnownWhereItsAppHasAnotherPlace() async throws {
            let key = try StageKey("COPYKEY001", apps: ["com.example.stays"])
            var options = Stage.Options(keys: [key], delays: ["1s"])
            let stage = try await Stage("reload-copies", options)
            try await stage.applyTopology()
            await stage.desk.collect(stage.queue("results"))
            let worker = try await stage.worker()
            let samples = Sample.make(20, app: "com.example.stays")
            try await stage.publish(samples)
            try await stage.told(of: samples).expectAcceptedAtOnce(samples)

            options.keys = [key.with(apps: ["com.example.comes", "com.example.stays"])]
            try await options.keys[0].makeKnown(at: stage.apns)
            try stage.write(options)
            worker.send(signal: SIGHUP)
            try await worker.said("the configuration was read anew and is in force")
            try await stage.publish(samples)
            let last = Sample.make(1, from: 100, app: "com.example.stays")
            _ = try await stage.desk.collected(stage.queue("results"), atLeast: 2 * samples.count)
            try await stage.publish(last)
            let results = try await stage.told(of: samples + last)
            #expect(results.odd(samples) { $0.map(\.isDuplicate) == [false, true] }.isEmpty)
            _ = try await worker.stop()
            #expect(try Pushes(await stage.end()).notTakenOnce(samples + last) == [])
        }
    }
}

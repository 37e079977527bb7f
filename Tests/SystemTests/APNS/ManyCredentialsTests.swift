import TestKit
import Testing

extension SystemTests {
    /// A worker with 40 apps and 64 credentials.
    ///
    /// Half of the apps use keys, and half use certificates.
    @Suite struct ManyCredentials {
        @Test func manyCredentialsUseLittleMemory() async throws {
            let (apps, credentials) = (40, 64)
            let certificates = try (0..<apps / 2).map { try FixtureCertificate("com.example.cert\($0)") }
            let keys = try (1..<credentials - certificates.count).map { number in
                try FixtureKey(
                    String(format: number), apps: number < apps / 2 ? ["com.example.key\(number)"] : [],
                    environments: ["production"], isPinned: true)
            }
            let fixture = try await SystemFixture(
                "many", SystemFixture.Options(keys: keys, certificates: certificates, delays: ["1s"], lanes: 2))
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            let names = ["com.example.app"] + keys.flatMap(\.apps) + certificates.map(\.app)
            try #require(names.count == apps)
            let samples = names.enumerated().flatMap { Sample.make(10, from: 1000 * $0, app: $1) }
            try await fixture.publish(samples)
            try await fixture.results(of: samples).expectAcceptedOnFirstAttempt(samples)
            let megabytes = Double(worker.peakResidentBytes) / 1_000_000
            #expect(megabytes <= 60)
            print("40 apps, 64 credentials, two lanes: \(megabytes) MB")
            _ = try await worker.stop()
            #expect(try Pushes(await fixture.end()).notAcceptedOnce(samples) == [])
        }
    }
}

extension String {
    /// Creates a key ID from `K` and the number in nine digits.
    fileprivate init(format number: Int) {
        let digits = String(number)
        self = "K" + String(repeating: "0", count: 9 - digits.count) + digits
    }
}

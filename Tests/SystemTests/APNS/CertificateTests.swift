import JSON
import TestKit
import Testing

extension SystemTests {
    /// Authentication with provider certificates, over TLS.
    @Suite struct Certificates {
        @Test func everyFileFormatPushesWithoutAToken() async throws {
            let certificates = try FixtureCertificate.Form.allCases.enumerated().map { index, form in
                try FixtureCertificate("com.example.form\(index)", form)
            }
            let fixture = try await SystemFixture("certificates", SystemFixture.Options(certificates: certificates))
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let doctor = try await ChildProcess.run([
                Products.executable("martlet"), "doctor", "--config", fixture.configuration,
            ])
            for certificate in certificates {
                #expect(
                    doctor.output.contains {
                        $0.contains("\(certificate.app): 127.0.0.1:\(fixture.port) accepts certificate")
                    })
                #expect(
                    doctor.output.contains { $0.contains("certificate \(certificate.name) is valid for 30 more days") })
            }
            let worker = try await fixture.worker()
            let samples =
                Sample.make(20)
                + certificates.enumerated().flatMap { index, certificate in
                    Sample.make(20, from: 100 * (index + 1), app: certificate.app)
                }
            try await fixture.publish(samples)
            try await fixture.results(of: samples).expectAcceptedOnFirstAttempt(samples)
            let warnings = try worker.logged.filter { $0.root["event"]?.string == "certificate.expiring" }
            #expect(warnings.map { $0.root["apns.certificate"]?.string } == certificates.map(\.name))
            _ = try await worker.stop()

            let log = try await fixture.apns.request("GET", "/v1/requests?limit=1000")
            for request in try #require(log.root["requests"]).elements {
                let names = try #require(request["headers"]).elements.compactMap { $0["name"]?.string }
                #expect(names.contains("authorization") == (request["topic"]?.string == "com.example.app"))
            }
            #expect(try Pushes(await fixture.end()).notAcceptedOnce(samples) == [])
        }

        @Test func aRevokedCertificateHoldsOnlyItsOwnPushes() async throws {
            let revoked = try FixtureCertificate("com.example.revoked")
            let good = try FixtureCertificate("com.example.good", .pkcs12)
            let fixture = try await SystemFixture(
                "certificate-revoked", SystemFixture.Options(certificates: [revoked, good], delays: ["1s", "2s"]))
            try await fixture.applyTopology()
            try await revoked.revoke(at: fixture.apns)
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            let held = Sample.make(20, app: revoked.app)
            let others = Sample.make(20, from: 100, app: good.app) + Sample.make(20, from: 200)
            try await fixture.publish(others + held)
            let opened = try await worker.waitForLog("breaker opened, pushes held").root
            #expect(opened["apns.route"]?.string == "127.0.0.1:\(fixture.port) certificate \(revoked.name)")
            #expect(opened["apns.reason"]?.string == "certificate-refused")
            #expect(opened["error"]?.string?.contains("revoked") == true)
            try await fixture.results(of: others, within: .seconds(10)).expectAcceptedOnFirstAttempt(others)

            try await revoked.revoke(false, at: fixture.apns)
            try await worker.waitForLog("breaker closed, pushes resumed")
            try await fixture.results(of: held, within: .seconds(30)).expectAcceptedOnFirstAttempt(held)
            #expect(try worker.count(of: "breaker opened, pushes held") == 1)
            #expect(try worker.count(of: "not ready") == 0)
            _ = try await worker.stop()
            try await fixture.expectNothingLeft()
            #expect(try Pushes(await fixture.end()).notAcceptedOnce(held + others) == [])
        }
    }
}

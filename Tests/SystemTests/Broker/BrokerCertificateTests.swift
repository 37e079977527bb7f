import Crypto
import TestKit
import Testing

extension SystemTests {
    /// A worker that logs in to the broker with its TLS client certificate (SASL EXTERNAL).
    @Suite struct BrokerCertificates {
        @Test func theCommonNameIsTheUser() async throws {
            let directory = try TemporaryDirectory("external")
            let authority = try CertificateAuthority.make(name: "brokers")
            let server = try authority.issueServer(dnsNames: ["localhost"])
            let broker = try await PrivateBroker(
                certificate: (
                    directory.write("server.pem", server.certificatePEM),
                    directory.write("server-key.pem", server.privateKeyPEM)
                ), plugins: ["rabbitmq_auth_mechanism_ssl"],
                settings: [
                    "auth_mechanisms.1 = PLAIN", "auth_mechanisms.2 = EXTERNAL", "ssl_cert_login_from = common_name",
                    "ssl_options.cacertfile = \(try directory.write("ca.pem", authority.certificatePEM))",
                    "ssl_options.verify = verify_peer", "ssl_options.fail_if_no_peer_cert = true",
                ])
            let url = try #require(broker.tlsURL).replacing("guest:guest@", with: "")
            let fixture = try await SystemFixture(
                "external", broker: broker.url,
                SystemFixture.Options(
                    url: url, brokerAuthority: authority.certificatePEM,
                    brokerIdentity: try authority.issueClient(name: "push-worker")))
            let unknown = try await ChildProcess.run([
                Products.executable("martlet"), "topology", "check", "--config", fixture.configuration,
            ])
            #expect(unknown.errors.joined().contains("cannot log in at \(url.dropFirst(8).dropLast()) by certificate"))

            try await broker.rabbitmqctl("add_user", "push-worker", "")
            try await broker.rabbitmqctl("set_permissions", "push-worker", ".*", ".*", ".*")
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            let samples = Sample.make(20)
            try await fixture.publish(samples)
            try await fixture.results(of: samples).expectAcceptedOnFirstAttempt(samples)
            let users = try await broker.rabbitmqctl("list_connections", "user", "auth_mechanism")
            #expect(users.count { $0.contains("push-worker") && $0.contains("EXTERNAL") } == 3, "\(users)")
            _ = try await worker.stop()
            try await fixture.end()
        }
    }
}

import EventLoop
import JSON
import TestKit
import Testing

extension SystemTests {
    /// A worker that connects to APNs through an HTTP proxy.
    @Suite struct Proxies {
        @Test func pushesUseTheProxyAndItsRefusalIsReported() async throws {
            try await onEpollLoop { loop in
                let proxy = ConnectProxy(loop: loop)
                let place = try proxy.listen(on: Endpoint(host: "127.0.0.1", port: 0))
                let password = "open-sesame"
                let fixture = try await SystemFixture(
                    "proxy",
                    SystemFixture.Options(delays: ["1s", "2s"], proxy: "http://martlet:\(password)@\(place)"))
                try await fixture.applyTopology()
                await fixture.testClient.collect(fixture.queue("results"))
                let worker = try await fixture.worker()
                let first = Sample.make(20)
                try await fixture.publish(first)
                try await fixture.results(of: first).expectAcceptedOnFirstAttempt(first)
                let login = "proxy-authorization: Basic bWFydGxldDpvcGVuLXNlc2FtZQ=="
                #expect(!proxy.requests.isEmpty)
                #expect(
                    proxy.requests.allSatisfy {
                        $0.hasPrefix("CONNECT 127.0.0.1:\(fixture.port) HTTP/1.1\r\n") && $0.contains(login)
                    })

                proxy.refusal = "403 Forbidden"
                try await fixture.apns.request("POST", "/v1/actions", #"{"action":{"goaway":{}}}"#)
                let held = Sample.make(20, from: 100)
                try await fixture.publish(held)
                var sentence = ""
                // The lane also probes the other endpoint, whose breaker logs the same message.
                while !sentence.contains(":\(fixture.port)") {
                    sentence = try await worker.waitForLog("breaker opened, pushes held").root["error"]?.string ?? ""
                }
                #expect(sentence.contains("the proxy \(place) answered 403 to CONNECT 127.0.0.1:\(fixture.port)"))
                let doctor = try await ChildProcess.run([
                    Products.executable("martlet"), "doctor", "--config", fixture.configuration,
                ])
                #expect(doctor.output.contains { $0.contains("the proxy \(place) answered 403") }, "\(doctor.output)")

                proxy.refusal = nil
                try await fixture.results(of: held, within: .seconds(30)).expectAcceptedOnFirstAttempt(held)
                _ = try await worker.stop()
                let log = await worker.errors.allLines()
                #expect(log.allSatisfy { !$0.contains(password) && !$0.contains("bWFydGxl") })
                proxy.close()
                try await fixture.expectNothingLeft()
                #expect(try Pushes(await fixture.end()).notAcceptedOnce(first + held) == [])
            }
        }

        /// Sets the proxy in the environment. The worker connects to this machine's addresses, such as the broker's
        /// address, without the proxy.
        @Test func theEnvironmentsProxyIsTheDefault() async throws {
            try await onEpollLoop { loop in
                let fixture = try await SystemFixture(
                    "proxy-environment", SystemFixture.Options(host: "api.push.apple.com", proxy: nil))
                let proxy = ConnectProxy(loop: loop, target: Endpoint(host: "127.0.0.1", port: fixture.port))
                let place = try proxy.listen(on: Endpoint(host: "127.0.0.1", port: 0))
                try await fixture.applyTopology()
                await fixture.testClient.collect(fixture.queue("results"))
                let worker = try await fixture.worker([
                    "-u", "NO_PROXY", "-u", "no_proxy", "HTTPS_PROXY=http://\(place)",
                ])
                let samples = Sample.make(20)
                try await fixture.publish(samples)
                try await fixture.results(of: samples).expectAcceptedOnFirstAttempt(samples)
                _ = try await worker.stop()
                #expect(!proxy.requests.isEmpty)
                let request = "CONNECT api.push.apple.com:\(fixture.port) HTTP/1.1\r\n"
                #expect(proxy.requests.allSatisfy { $0.hasPrefix(request) })
                proxy.close()
                #expect(try Pushes(await fixture.end()).notAcceptedOnce(samples) == [])
            }
        }
    }
}

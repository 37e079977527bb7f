import EventLoop
import JSON
import TestKit
import Testing

extension SystemTests {
    /// A network that lets nobody out but through an HTTP proxy.
    @Suite struct Proxies {
        @Test func pushesGoThroughItAndItsRefusalIsToldAsItsOwn() async throws {
            try await onEpollLoop { loop in
                let proxy = ConnectProxy(loop: loop)
                let place = try proxy.listen(on: Endpoint(host: "127.0.0.1", port: 0))
                let password = "open-sesame"
                let fixture = try await SystemFixture(
                    "proxy", SystemFixture.Options(delays: ["1s", "2s"], proxy: "http://martlet:\(password)@\(place)"))
                try await fixture.applyTopology()
                await fixture.testClient.collect(fixture.queue("results"))
                let worker = try await fixture.worker()
                let first = Sample.make(20)
                try await fixture.publish(first)
                try await fixture.told(of: first).expectAcceptedAtOnce(first)
                let login = "proxy-authorization: Basic bWFydGxldDpvcGVuLXNlc2FtZQ=="
                #expect(!proxy.requests.isEmpty)
                #expect(
                    proxy.requests.allSatisfy {
                        $0.hasPrefix("CONNECT 127.0.0.1:\(fixture.port) HTTP/1.1\r\n") && $0.contains(login)
                    })

                proxy.refusal = "403 Forbidden"
                try await fixture.apns.ask("POST", "/v1/actions", #"{"action":{"goaway":{}}}"#)
                let held = Sample.make(20, from: 100)
                try await fixture.publish(held)
                var sentence = ""
                // The lane tests the other endpoint, too.
                while !sentence.contains(":\(fixture.port)") {
                    sentence = try await worker.said("breaker opened, pushes held").root["error"]?.string ?? ""
                }
                #expect(sentence.contains("the proxy \(place) answered 403 to CONNECT 127.0.0.1:\(fixture.port)"))
                let doctor = try await ChildProcess.run([
                    Products.executable("martlet"), "doctor", "--config", fixture.configuration,
                ])
                #expect(doctor.output.contains { $0.contains("the proxy \(place) answered 403") }, "\(doctor.output)")

                proxy.refusal = nil
                try await fixture.told(of: held, within: .seconds(30)).expectAcceptedAtOnce(held)
                _ = try await worker.stop()
                let log = await worker.errors.allLines()
                #expect(log.allSatisfy { !$0.contains(password) && !$0.contains("bWFydGxl") })
                proxy.close()
                try await fixture.expectNothingLeft()
                #expect(try Pushes(await fixture.end()).notTakenOnce(first + held) == [])
            }
        }

        /// As for other programs; this machine is reached without it, and so the broker is.
        @Test func itIsTheEnvironmentsWhereNothingIsConfigured() async throws {
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
                try await fixture.told(of: samples).expectAcceptedAtOnce(samples)
                _ = try await worker.stop()
                #expect(!proxy.requests.isEmpty)
                let asked = "CONNECT api.push.apple.com:\(fixture.port) HTTP/1.1\r\n"
                #expect(proxy.requests.allSatisfy { $0.hasPrefix(asked) })
                proxy.close()
                #expect(try Pushes(await fixture.end()).notTakenOnce(samples) == [])
            }
        }
    }
}

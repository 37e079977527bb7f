import APNSProtocol
import TestKit
import Testing

@testable import APNSSimulator

/// Rows of the conformance table about the states of device tokens.
@Suite struct TokenStateConformanceTests {
    private static let foundGone: Int64 = 1_454_948_015_990
    private static let unregistered = #"{"reason":"Unregistered","timestamp":1454948015990}"#

    @Test("row 94: the app was uninstalled") func row94() throws {
        let wire = try Wire { _, state in
            state.add(
                Device(
                    token: "aa01", bundleID: "com.example.app", environment: .sandbox,
                    condition: .unregistered(sinceMilliseconds: Self.foundGone)))
        }
        let peer = wire.connect()
        for _ in 0..<2 {
            expectRefused(wire.push([":path": "/3/device/aa01"], on: peer), 410, Self.unregistered)
        }
        expectAccepted(wire.push(on: peer))
    }

    @Test("row 95: 410 regardless of later registrations") func row95() throws {
        let wire = try Wire { _, state in
            state.deviceRules = [
                DeviceRule(prefix: "dead", condition: .unregistered(sinceMilliseconds: Self.foundGone))
            ]
        }
        let registeredLater = #"{"aps":{"alert":"Hi"},"registered_at":1767225600000}"#
        expectRefused(wire.push([":path": "/3/device/dead"], body: registeredLater), 410, Self.unregistered)
        // The token is valid again after the device registers again.
        wire.change { $0.add(Device(token: "dead", bundleID: "com.example.app", environment: .sandbox)) }
        expectAccepted(wire.push(to: "dead"))
    }

    @Test("row 96: an expired token of a Live Activity") func row96() throws {
        let wire = try Wire { _, state in
            state.add(
                Device(
                    token: "ac01", bundleID: "com.example.app", environment: .sandbox,
                    condition: .expired(sinceMilliseconds: Self.foundGone)))
        }
        let answer = wire.push([
            ":path": "/3/device/ac01", "apns-push-type": "liveactivity",
            "apns-topic": "com.example.app.push-type.liveactivity",
        ])
        expectRefused(answer, 410, #"{"reason":"ExpiredToken","timestamp":1454948015990}"#)
    }

    @Test("row 99: a timestamp only with 410") func row99() throws {
        let wire = try Wire { _, state in state.rules.requestsPerDeviceMax = 1 }
        let answers = [
            wire.push(to: "xyz"), wire.push(["authorization": nil]), wire.push([":path": "/"]),
            wire.push([":method": "GET"]), wire.push(body: String(repeating: " ", count: 5000)), wire.push(),
            wire.push(),
        ]
        #expect(answers.map(\.status) == [400, 403, 404, 405, 413, 200, 429])
        #expect(answers.allSatisfy { !$0.bodyText.contains("timestamp") })
    }

    @Test("row 100: many pushes to one token") func row100() throws {
        let wire = try Wire { _, state in state.rules.requestsPerDeviceMax = 3 }
        let peer = wire.connect()
        for _ in 0..<3 { expectAccepted(wire.push(on: peer)) }
        for _ in 0..<2 { expectRefused(wire.push(on: peer), 429, #"{"reason":"TooManyRequests"}"#) }
        // Only this token is throttled, and only temporarily.
        expectAccepted(wire.push([":path": "/3/device/ab01"], on: peer))
        wire.wait(.seconds(1))
        expectAccepted(wire.push(on: peer))
    }

    @Test("row 110: many 410s do not close the connection") func row110() throws {
        let wire = try Wire { _, state in
            state.deviceRules = [
                DeviceRule(prefix: "dead", condition: .unregistered(sinceMilliseconds: Self.foundGone))
            ]
        }
        let peer = wire.connect()
        for _ in 0..<1000 {
            let answer = wire.push([":path": "/3/device/dead"], on: peer)
            guard answer.status == 410 else { return expectRefused(answer, 410, Self.unregistered) }
        }
        expectAccepted(wire.push(on: peer))
        #expect(!peer.transcript.contains { $0.hasPrefix("GOAWAY") })
    }
}

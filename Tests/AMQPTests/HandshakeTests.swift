import AMQP
import Testing

@Suite struct HandshakeTests {
    private static let wanted = Handshake.Tuning(channelMax: 16, frameBytesMax: 131_072, heartbeatSeconds: 20)
    private static let start = Handshake.Event.start(versionMajor: 0, versionMinor: 9, mechanisms: "AMQPLAIN PLAIN")

    private static func tune(_ channelMax: UInt16, _ frameBytesMax: UInt32, _ heartbeatSeconds: UInt16)
        -> Handshake.Event
    {
        .tune(.init(channelMax: channelMax, frameBytesMax: frameBytesMax, heartbeatSeconds: heartbeatSeconds))
    }

    @Test func aSuccessfulLogin() {
        var handshake = Handshake(wanted: Self.wanted)
        #expect(handshake.handle(Self.start) == .sendStartOK(.plain))
        #expect(
            handshake.handle(Self.tune(2047, 131_072, 60))
                == .sendTuneOKAndOpen(.init(channelMax: 16, frameBytesMax: 131_072, heartbeatSeconds: 20)))
        #expect(handshake.handle(.openOK) == .ready)
        #expect(handshake.state == .open)
    }

    @Test(
        arguments: [
            ("AMQPLAIN PLAIN EXTERNAL", .external), ("EXTERNAL", .external), ("PLAIN", .plain), ("XEXTERNAL", nil),
        ] as [(String, Handshake.Mechanism?)])
    func theCertificateIsPreferredIfOffered(mechanisms: String, choice: Handshake.Mechanism?) {
        var handshake = Handshake(wanted: Self.wanted, prefersExternal: true)
        let action = handshake.handle(.start(versionMajor: 0, versionMinor: 9, mechanisms: mechanisms))
        if let choice { #expect(action == .sendStartOK(choice)) } else { #expect(handshake.state == .failed) }
    }

    @Test func theLowerLimitAppliesAndZeroMeansNone() {
        var handshake = Handshake(wanted: Self.wanted)
        _ = handshake.handle(Self.start)
        #expect(
            handshake.handle(Self.tune(0, 0, 0))
                == .sendTuneOKAndOpen(.init(channelMax: 16, frameBytesMax: 131_072, heartbeatSeconds: 20)))
        handshake = Handshake(wanted: Self.wanted)
        _ = handshake.handle(Self.start)
        #expect(
            handshake.handle(Self.tune(4, 8192, 5))
                == .sendTuneOKAndOpen(.init(channelMax: 4, frameBytesMax: 8192, heartbeatSeconds: 5)))
    }

    @Test func aHeartbeatThatIsTurnedOffStaysOff() {
        var handshake = Handshake(wanted: .init(channelMax: 16, frameBytesMax: 131_072, heartbeatSeconds: 0))
        _ = handshake.handle(Self.start)
        #expect(
            handshake.handle(Self.tune(16, 131_072, 60))
                == .sendTuneOKAndOpen(.init(channelMax: 16, frameBytesMax: 131_072, heartbeatSeconds: 0)))
    }

    @Test func otherVersionsLoginsAndFramesAreRefused() {
        expectFailure([.start(versionMajor: 8, versionMinor: 0, mechanisms: "PLAIN")])
        expectFailure([.start(versionMajor: 1, versionMinor: 9, mechanisms: "PLAIN")])
        expectFailure([.start(versionMajor: 0, versionMinor: 9, mechanisms: "EXTERNAL XPLAIN")])
        expectFailure([Self.start, Self.tune(16, 4095, 60)])
    }

    @Test func eventsOutOfOrderAreRefused() {
        expectFailure([.openOK])
        expectFailure([Self.tune(1, 4096, 1)])
        expectFailure([Self.start, Self.start])
        expectFailure([Self.start, .openOK])
        expectFailure([Self.start, Self.tune(1, 4096, 1), Self.start])
        expectFailure([Self.start, Self.tune(1, 4096, 1), .openOK, .openOK])
    }

    private func expectFailure(_ events: [Handshake.Event]) {
        var handshake = Handshake(wanted: Self.wanted)
        var last: Handshake.Action?
        for event in events { last = handshake.handle(event) }
        guard case .fail(let error) = last else {
            Issue.record("the handshake was not refused")
            return
        }
        #expect(error.code == .protocolViolation)
        #expect(handshake.state == .failed)
    }
}

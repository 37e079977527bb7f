import APNSProtocol
import Registrations
import Testing

@Suite struct TokenKindTests {
    @Test func `Each push type reaches tokens of one kind`() {
        let kinds: [PushType: TokenKind?] = [
            .alert: .device, .background: .device, .complication: .complication, .controls: .controls,
            .fileprovider: .fileprovider, .liveactivity: .liveactivity, .location: .location, .mdm: nil,
            .pushtotalk: .pushtotalk, .voip: .voip, .widgets: .widgets,
        ]
        for type in PushType.allCases { #expect(TokenKind(type, event: nil) == kinds[type]) }
        #expect(TokenKind(.liveactivity, event: "start") == .liveactivityStart)
        for event in ["update", "end"] { #expect(TokenKind(.liveactivity, event: event) == .liveactivity) }
        #expect(TokenKind(.alert, event: "start") == .device)
        let reached = PushType.allCases.flatMap { type in [nil, "start"].map { TokenKind(type, event: $0) } }
        #expect(Set(reached.compactMap(\.self)) == Set(TokenKind.allCases))
    }

    @Test func `Four kinds have a scope`() {
        #expect(
            TokenKind.allCases.filter { $0.scopeRule != .none } == [
                .pushtotalk, .controls, .liveactivityStart, .liveactivity,
            ])
        #expect(TokenKind.allCases.filter { $0.scopeRule == .inPayload } == [.liveactivityStart])
        for kind in TokenKind.allCases { #expect((kind.scopeMeaning == nil) == (kind.scopeRule == .none)) }
    }

    @Test func `Numbers in a store never change`() {
        #expect(TokenKind.allCases.map(\.number) == Array(0..<10))
        #expect(DevicePlatform.allCases.map(\.number) == Array(0..<6))
        for kind in TokenKind.allCases { #expect(TokenKind(number: kind.number) == kind) }
        for platform in DevicePlatform.allCases { #expect(DevicePlatform(number: platform.number) == platform) }
        #expect(TokenKind(number: 10) == nil && DevicePlatform(number: -1) == nil)
    }
}

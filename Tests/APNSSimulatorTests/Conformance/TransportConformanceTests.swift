import APNSProtocol
import Crypto
import EventLoop
import TLS
import Testing

@testable import APNSSimulator
@testable import TestKit

/// Rows of the conformance table about TLS, HTTP/2 and the connection.
@Suite struct TransportConformanceTests {
    @Test("row 1: TLS 1.2 and TLS 1.3 with ALPN h2", arguments: [TLSVersion.tls12, .tls13])
    func row1(version: TLSVersion) throws {
        let secured = try SecuredWire()
        let peer = try secured.connect(version: version, applicationProtocols: ["h2"])
        #expect(peer.transcript.first == Self.firstSettings)
        expectAccepted(secured.wire.push(on: peer))
    }

    private static let firstSettings =
        "SETTINGS header_table_size=4096 max_concurrent_streams=1 initial_window_size=65535 max_frame_size=16384 "
        + "max_header_list_size=8000"

    @Test("row 2: TLS 1.1 only") func row2() throws {
        let secured = try SecuredWire()
        let peer = secured.connect(ClientHello.record(version: 0x0302, cipherSuite: 0xC009))
        #expect(secured.wire.run { peer.isClosed })
        // The record is a TLS alert: fatal, protocol_version.
        #expect(peer.received.first == 21)
        #expect(peer.received.suffix(4) == [0, 2, 2, 70])
    }

    @Test(
        "row 3: ALPN absent, a switch, or only http/1.1",
        arguments: [([], ["http/1.1"]), (["--alpn", "required"], ["http/1.1"]), (["--alpn", "required"], [])])
    func row3(arguments: [String], protocols: [String]) throws {
        let secured = try SecuredWire(arguments)
        var reported: [ConnectionFailure] = []
        secured.wire.apns.server.onFailure = { reported.append($0) }
        let refused = try secured.connect(applicationProtocols: protocols)
        #expect(secured.wire.run { refused.isClosed })
        #expect(refused.frames.isEmpty)
        #expect(reported.map(\.number) == [1] && reported.first?.text.contains("(ALPN)") == true)
        #expect(secured.wire.apns.server.failures.newest == reported)
    }

    @Test("row 3: a client that offers no protocol is served") func row3Absent() throws {
        let secured = try SecuredWire()
        expectAccepted(secured.wire.push(on: try secured.connect(applicationProtocols: [])))
        #expect(secured.wire.apns.server.failures.newest == [])
    }

    @Test("row 5: TLS requests a client certificate, and the client has none") func row5() throws {
        let secured = try SecuredWire()
        let reader = secured.connect(ClientHello.record(version: 0x0303, cipherSuite: 0xC02B))
        #expect(secured.wire.run { reader.received.count > 500 })
        // Server hello, certificate, key exchange, certificate request, hello done.
        #expect(ClientHello.handshakeTypes(in: reader.received) == [2, 11, 12, 13, 14])
        let peer = try secured.connect(applicationProtocols: ["h2"])
        expectAccepted(secured.wire.push(on: peer))
    }

    @Test("row 6: a new connection has a limit of one stream") func row6() throws {
        let wire = try Wire()
        let peer = wire.connect(FramePeer.Behavior())
        #expect(peer.transcript.first == Self.firstSettings)
    }

    @Test("row 7: a second stream before the first valid push is refused") func row7() throws {
        let wire = try Wire { configuration, _ in configuration.answerDelay = .milliseconds(100) }
        let peer = wire.connect()
        wire.loop.enter {
            for _ in 0..<2 { peer.request(wire.fields(), body: Array(Wire.alert.utf8)) }
        }
        wire.run { peer[1].isComplete }
        #expect(peer.transcript.contains("RST_STREAM 3 REFUSED_STREAM"))
        #expect(peer[3].frames == ["RST_STREAM"])
        expectAccepted(peer[1])
        // The simulator did not process the refused stream.
        #expect(wire.apns.server.counters.requests == 1)
        expectAccepted(wire.push(on: peer))
    }

    @Test("row 7: whole requests that are read together are open at the same time") func row7Together() throws {
        func answers(_ gate: ServerStreamGate.Mode) throws -> [[String]] {
            let wire = try Wire { _, state in state.rules.gate = gate }
            let peer = wire.connect()
            let streams = (0..<20).map { _ in peer.newStream() }
            wire.loop.enter {
                peer.write(
                    streams.flatMap { stream in
                        HTTP2Frame.headers(stream, HPACKWriter.block(wire.fields())).bytes
                            + HTTP2Frame.data(stream, Array(Wire.alert.utf8)).bytes
                    })
            }
            wire.run { streams.allSatisfy { peer[$0].isComplete } }
            return streams.map { peer[$0].frames }
        }
        #expect(try answers(.enforce) == [["HEADERS end_stream"]] + Array(repeating: ["RST_STREAM"], count: 19))
        #expect(try answers(.announce) == Array(repeating: ["HEADERS end_stream"], count: 20))
    }

    @Test("row 8: the first valid push raises the limit") func row8() throws {
        let wire = try Wire()
        let peer = wire.connect()
        expectAccepted(wire.push(on: peer))
        wire.run { peer.transcript.contains("SETTINGS ack") && peer.frames.count >= 4 }
        let raise = peer.frames.lastIndex { $0.settings.contains { $0.id == 3 && $0.value == 1000 } }
        let answer = peer.frames.firstIndex { $0.type == HTTP2Frame.Kind.headers }
        #expect(try #require(raise) < #require(answer))
        let settings = peer.frames.flatMap(\.settings).filter { $0.id == 3 }.map(\.value)
        #expect(settings == [1, 1000])
        let streams = wire.loop.enter {
            (0..<1000).map { _ in peer.request(wire.fields(), body: Array(Wire.alert.utf8)) }
        }
        wire.run { streams.allSatisfy { peer[$0].isComplete } }
        #expect(streams.allSatisfy { peer[$0].line == "200" })
    }

    @Test("row 11: the simulator respects the client's HEADER_TABLE_SIZE", arguments: [0, 4096] as [UInt32])
    func row11(bytes: UInt32) throws {
        let wire = try Wire()
        let settings = HTTP2Frame.settings((HTTP2Frame.Setting.headerTableSize, bytes)).bytes
        let peer = wire.connect(FramePeer.Behavior(greeting: HTTP2Frame.preface + settings, acknowledgesSettings: true))
        #expect(peer.transcript.first?.hasSuffix("max_header_list_size=8000") == true)
        for _ in 0..<3 {
            expectRefused(
                wire.push([":path": "/3/device/xyz"], on: peer), 400, #"{"reason":"BadDeviceToken"}"#)
        }
        let blocks = peer.frames.filter { $0.type == HTTP2Frame.Kind.headers }.map(\.payload)
        #expect(blocks.count == 3)
        if bytes == 0 {
            // 0x20 changes the table's size to 0. The client could not read references to entries of the table.
            #expect(blocks[0].first == 0x20)
        } else {
            #expect(blocks[2].count < blocks[0].count)
        }
    }

    @Test("row 11: the id of an answer enters the client's table") func row11ID() throws {
        let wire = try Wire()
        let peer = wire.connect()
        for _ in 0..<2 { expectAccepted(wire.push(on: peer)) }
        var reader = HPACKReader()
        let forms = try peer.frames.filter { $0.type == HTTP2Frame.Kind.headers }.map { frame in
            let fields = try reader.read(frame.payload)
            return fields.firstIndex { $0.name == "apns-id" }.map { reader.forms[$0] }
        }
        #expect(forms == [.incremental, .indexed])
    }

    @Test("row 12: PRIORITY frames are ignored") func row12() throws {
        let wire = try Wire()
        let peer = wire.connect()
        wire.loop.enter {
            peer.send(.priority(1, dependsOn: 0), .priority(3, dependsOn: 1, weight: 255), .priority(99, dependsOn: 7))
        }
        expectAccepted(wire.push(on: peer))
        wire.loop.enter { peer.send(.priority(1, dependsOn: 0)) }
        expectAccepted(wire.push(on: peer))
    }

    @Test("row 13: PING on an idle connection") func row13() throws {
        let wire = try Wire()
        let peer = wire.connect()
        wire.wait(.seconds(3000))
        wire.loop.enter { peer.send(.ping(0x0123_4567_89AB_CDEF)) }
        #expect(wire.run { peer.transcript.last == "PING 81985529216486895 ack" })
    }

    @Test("row 15: host and no :authority") func row15() throws {
        let wire = try Wire()
        expectAccepted(wire.push([":authority": nil, "host": "api.sandbox.push.apple.com"]))
    }

    @Test(
        "row 16: an upper-case header name, two :path", arguments: [("Apns-Topic", "com.example.app"), (":path", "/")])
    func row16(name: String, value: String) throws {
        let wire = try Wire()
        let peer = wire.connect()
        let fields = name == ":path" ? [(name, value)] + wire.fields() : wire.fields() + [(name, value)]
        let answer = wire.exchange(fields, body: Array(Wire.alert.utf8), on: peer)
        #expect(answer.frames == ["RST_STREAM"])
        #expect(peer.transcript.contains("RST_STREAM 1 PROTOCOL_ERROR"))
        let logged = wire.loop.enter { wire.apns.server.memory.requests().requests }
        #expect(logged.map(\.malformedField) == [name])
        expectAccepted(wire.push(on: peer))
    }

    @Test("row 18: ports 443 and 2197 are one service") func row18() throws {
        let wire = try Wire()
        let second = Endpoint(host: Wire.Place.sandbox.host, port: 2197)
        #expect(Wire.Place.sandbox.port == 443)
        try wire.loop.enter { _ = try wire.apns.server.listen(on: second, as: .sandboxPush) }
        wire.loop.enter {
            wire.apns.server.state.add(
                Device(token: "aa01", bundleID: "com.example.app", environment: .sandbox, condition: .bad))
        }
        for endpoint in [Wire.Place.sandbox, second] {
            let peer = wire.connect(to: endpoint)
            expectAccepted(wire.push(on: peer))
            expectRefused(wire.push([":path": "/3/device/aa01"], on: peer), 400, #"{"reason":"BadDeviceToken"}"#)
        }
        #expect(wire.apns.server.counters.requests == 4)
    }

    @Test(
        "every HPACK representation is decoded", arguments: HPACKWriter.Literal.allCases, [true, false])
    func everyFormOfHPACK(form: HPACKWriter.Literal, huffman: Bool) throws {
        let wire = try Wire()
        let peer = wire.connect()
        for stream in [1, 3, 5] as [UInt32] {
            wire.loop.enter {
                let block = HPACKWriter.block(wire.fields(), as: form, huffman: huffman)
                peer.send(.headers(stream, block), .data(stream, Array(Wire.alert.utf8)))
            }
            wire.run { peer[stream].isComplete }
            expectAccepted(peer[stream])
        }
    }

    @Test("HPACK's tables are kept and resized") func tables() throws {
        let wire = try Wire()
        let peer = wire.connect()
        let fixed: [UInt8] = HPACKWriter.indexed(3) + HPACKWriter.indexed(7)  // POST, https
        let path = HPACKWriter.literal(nameOf: 4, "/3/device/\(Wire.deviceToken)")
        let host = HPACKWriter.literal(nameOf: 1, "api.sandbox.push.apple.com", as: .incremental)
        let token = HPACKWriter.literal(nameOf: 23, "bearer \(wire.apns.token)", as: .incremental, huffman: true)
        let topic = HPACKWriter.literal("apns-topic", "com.example.app", as: .incremental)
        let blocks = [
            HPACKWriter.tableSizeUpdate(0) + HPACKWriter.tableSizeUpdate(4096) + fixed + path + host + token + topic,
            // The newest entry has the lowest number.
            fixed + path + HPACKWriter.indexed(64) + HPACKWriter.indexed(63) + HPACKWriter.indexed(62),
        ]
        for (index, block) in blocks.enumerated() {
            let stream = UInt32(2 * index + 1)
            wire.loop.enter { peer.send(.headers(stream, block), .data(stream, Array(Wire.alert.utf8))) }
            wire.run { peer[stream].isComplete }
            expectAccepted(peer[stream], id: nil)
        }
    }
}

/// A simulator on the virtual network, with the TLS configuration of the command.
private struct SecuredWire {
    static let endpoint = Endpoint(host: "localhost", port: 2197)

    let wire: Wire
    private let authority: String

    /// Creates a simulator that is configured by arguments of the command line.
    init(_ arguments: [String] = []) throws {
        wire = try Wire()
        let startup = try StartupData(Options(arguments), nowMilliseconds: 0)
        authority = try #require(startup.demonstration).authorityPEM
        try wire.loop.enter { _ = try wire.apns.server.listen(on: Self.endpoint, as: .sandboxPush, tls: startup.tls) }
    }

    func connect(
        version: TLSVersion? = nil, applicationProtocols: [String]
    ) throws -> FramePeer {
        let context = try TLSContext(
            client: TLSClientConfiguration(
                trust: .pem(authority), applicationProtocols: applicationProtocols,
                versionMin: version ?? .tls12, versionMax: version ?? .tls13))
        let peer = FramePeer(.good)
        wire.loop.enter {
            _ = TLSConnector(loop: wire.loop, endpoint: Self.endpoint, context: context).connect(peer)
        }
        wire.run { !peer.frames.isEmpty || peer.isClosed }
        return peer
    }

    /// Connects a peer that sends only these bytes.
    func connect(_ bytes: [UInt8]) -> BytePeer {
        let peer = BytePeer(bytes)
        wire.loop.enter { _ = wire.loop.connect(to: Self.endpoint, handler: peer) }
        return peer
    }
}

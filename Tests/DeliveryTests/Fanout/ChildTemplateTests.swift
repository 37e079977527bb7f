import AMQP
import APNSProtocol
import Crypto
import EventLoop
import JSON
import Registrations
import TestKit
import Testing

@testable import Delivery

/// The bytes and the id of a child.
@Suite struct ChildTemplateTests {
    private static let app = "com.example.app"
    private static let requestID = "6f1c7c1e-3c52-4a53-9c1b-000000000001"

    private static let device = FoundDevice(
        key: Registration.Key(token: UUIDValue(high: 1, low: 2)), token: "aa01", registeredAt: 5)

    /// Returns the id and the body of the child of a request with these members.
    private func child(_ members: String, prefix: String = "", suffix: String = "") throws -> (
        id: UUIDValue, text: String
    ) {
        let body = Array((prefix + "{" + members + "}" + suffix).utf8)
        let apps = AppDirectory([
            AppDirectory.App(bundleID: Self.app, defaultEnvironment: .sandbox, sandbox: .init(0))
        ])
        let reader = RequestReader(
            apps: apps, payloadSchemas: PayloadSchemas(), hasRegistrations: true, bytesMax: 1 << 20, depthMax: 64)
        let now = Now(monotonic: MonotonicTime(nanoseconds: 0), unixNanoseconds: 0)
        let record = DeliveryRecord(of: IncomingMessage(unpublished: body), from: 0, now)
        record.id = UUIDValue(Self.requestID)
        guard case .success(.audience(let audience)) = reader.read(record) else {
            throw InvalidRequest()
        }
        let template = ChildTemplate(audience, body: record.delivery.content.bytes)
        let id = template.id(for: Self.device)
        var child: [UInt8] = []
        template.append(Self.device, id, to: &child)
        #expect(child.count <= template.bytesReserved(for: Self.device))
        return (id, String(decoding: child, as: UTF8.self))
    }

    private struct InvalidRequest: Error {}

    private static let alert = #""push_type":"alert","payload":{"aps":{"alert":"x"}}"#
    private static let control = #""push_type":"controls","payload":{"aps":{"content-changed":true}}"#
    private static var id: String {
        UUIDValue(requestID).map { ChildTemplate.childID(of: $0, tokenKey: device.key.token).description } ?? ""
    }
    private static var target: String { #""device_token":"aa01""# }

    @Test func `Only the target and the id differ`() throws {
        let (id, text) = try child(
            #""id":"\#(Self.requestID)","app":"\#(Self.app)","user":"ann",\#(Self.alert)"#)
        #expect(text == #"{"id":"\#(Self.id)","app":"\#(Self.app)",\#(Self.target),\#(Self.alert)}"#)
        #expect(id.description == Self.id)
    }

    @Test func `A request without an id has children with one`() throws {
        let text = try child(#""app":"\#(Self.app)",\#(Self.alert),"users":["ann","bob"]"#).text
        #expect(text == #"{"app":"\#(Self.app)",\#(Self.alert),\#(Self.target),"id":"\#(Self.id)"}"#)
    }

    @Test(arguments: [
        (#""scope":"door","user":"ann","#, ""), (#""user":"ann","scope":"door","#, ""),
        ("", #","user":"ann","scope":"door""#),
        ("", #","scope":"door","user":"ann""#), (#""user":"ann","#, #","scope":"door""#),
        (#""scope" : "door" , "user":"ann","#, ""), ("", #","user":"ann" , "scope":"door" "#),
    ])
    func `A child has no scope, wherever its request has one`(_ before: String, _ after: String) throws {
        let text = try child(#"\#(before)"app":"\#(Self.app)",\#(Self.control)\#(after)"#).text
        let document = try JSONDocument(Array(text.utf8))
        #expect(document.root[key: "scope"] == nil && document.root[key: "user"] == nil)
        #expect(document.root[key: "device_token"]?.string == "aa01" && document.root[key: "id"]?.string == Self.id)
    }

    @Test func `A child of an event is its data`() throws {
        let (id, text) = try child(
            #""app":"\#(Self.app)","user":"ann",\#(Self.alert)"#,
            prefix: #"{"specversion":"1.0","id":"1","source":"/a","type":"b","data": "#, suffix: " }")
        #expect(text == #"{"app":"\#(Self.app)",\#(Self.target),"id":"\#(id)",\#(Self.alert)}"#)
    }

    @Test func `The id depends on the request and the token only`() throws {
        let one = UUIDValue(high: 1, low: 1)
        let other = UUIDValue(high: 1, low: 2)
        let tokens = [UUIDValue(high: 3, low: 3), UUIDValue(high: 3, low: 4)]
        let ids = [one, other].flatMap { request in tokens.map { ChildTemplate.childID(of: request, tokenKey: $0) } }
        #expect(Set(ids).count == 4)
        #expect(ids[0] == ChildTemplate.childID(of: one, tokenKey: tokens[0]))
    }
}

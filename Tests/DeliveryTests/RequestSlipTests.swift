import JSON
import JSONSchema
import Testing

@testable import Delivery

/// The hint at the probable mistake behind a violation of the request's schema.
@Suite struct RequestSlipTests {
    /// Returns the explained message of the violation at a JSON pointer.
    private func message(at pointer: String, of request: String) throws -> String {
        let root = try JSONDocument(Array(request.utf8)).root
        let violations = SchemaValidator(ContractSchemas.notification).violations(in: root)
        let violation = try #require(violations.first { $0.instancePointer == pointer }, "\(violations)")
        return RequestSlip.explained(violation, in: root).message
    }

    @Test(arguments: [
        ("type", "push_type"), ("token", "device_token"), ("topic", "app"), ("bundle_id", "app"), ("apns_id", "id"),
    ])
    func aMemberOfAnotherProgramNamesItsReplacement(other: String, own: String) throws {
        let message = try message(at: "/\(other)", of: #"{"\#(other)":"x","payload":{}}"#)
        #expect(message.hasSuffix("; use \(own) instead of \(other)"), "\(message)")
    }

    @Test func aMemberNextToItsReplacementGetsNoHint() throws {
        let message = try message(at: "/type", of: #"{"type":"alert","push_type":"alert","payload":{}}"#)
        #expect(!message.contains("instead of"), "\(message)")
    }

    @Test func anotherViolationGetsNoHint() throws {
        let message = try message(at: "/priority", of: #"{"type":"alert","priority":7,"payload":{}}"#)
        #expect(!message.contains("instead of"), "\(message)")
    }

    @Test func aMissingMemberWithoutAnotherNameGetsNoHint() throws {
        let message = try message(
            at: "", of: #"{"device_token":"aabb","push_type":"alert","payload":{"aps":{"alert":"x"}}}"#)
        #expect(message.contains("app") && !message.contains("instead of"), "\(message)")
    }
}

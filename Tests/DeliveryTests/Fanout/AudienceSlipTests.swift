import JSON
import JSONSchema
import Testing

@testable import Delivery

/// The remedies for mistakes in requests to users.
@Suite struct AudienceSlipTests {
    private static let examples = KindExample.all
    private static let (alert, controls, start) = (examples[0], examples[3], examples[5])

    @Test(arguments: [
        (alert.request(#""device_token":"aabb""#, #""user":"ann""#), "has both"),
        (
            alert.request(), #"must have exactly one of "device_token", "channel_id", "user", "users""#
        ),
        (alert.request(#""users":[]"#), "must have at least 1 element"),
        (alert.request(#""users":["ann","ann"]"#), "must not have the same element twice"),
        (alert.request(#""users":"ann""#), "must be an array; use user for one user"),
        (alert.request(#""user":["ann"]"#), "; use users for several users"),
        (alert.request(#""user":"ann\n""#), "(1 to 256 bytes without control characters)"),
        (alert.request(#""user_id":"ann""#), #"(did you mean "user"?)"#),
        (alert.request(#""device_token":"aabb""#, #""scope":"s""#), "is not allowed here; remove scope, which is for"),
        (
            alert.request(#""user":"ann""#, #""scope":"s""#),
            #"because /push_type is not one of "controls", "pushtotalk"; remove scope: device tokens for this"#
        ),
        (
            start.request(#""user":"ann""#, #""scope":"s""#),
            "; remove scope: the scope of a Live Activity start is aps.attributes-type"
        ),
        (
            controls.request(#""user":"ann""#),
            #"because /push_type is "controls"; set scope to the control, as in the registrations"#
        ),
        (examples[6].request(#""user":"ann""#), "; set scope to the activity, as in the registrations"),
        (
            alert.request(#""user":"ann""#, #""registered_at":1750000000000"#),
            "; remove registered_at: each registration has its own"
        ),
        (
            #"{"app":"a","user":"ann","push_type":"mdm","payload":{"mdm":"x"}}"#,
            #"must not be "mdm"; the payload of mdm is specific to a device: use device_token"#
        ),
    ])
    func `The first violation names the remedy`(_ request: String, _ expected: String) throws {
        let root = try JSONDocument(Array(request.utf8)).root
        let violation = try #require(SchemaValidator(ContractSchemas.notification).firstViolation(in: root))
        let message = RequestSlip.explained(violation, in: root).message
        #expect(message.contains(expected), "\(message)")
    }

    @Test func `More than 1000 users need several requests`() throws {
        let users = (0...1000).map { "\"u\($0)\"" }.joined(separator: ",")
        let violation = AudienceReader().violation(Self.alert.request("\"users\":[\(users)]"))
        #expect(
            violation?.sentence
                == "/users must have at most 1000 elements; publish several requests, each with its own id.")
    }

    @Test func `A remedy fits a request in an event`() throws {
        let request = Self.controls.request(#""user":"ann""#)
        let event = #"{"specversion":"1.0","id":"1","source":"/s","data":\#(request)}"#
        #expect(AudienceReader().violation(event)?.sentence.contains("set scope to the control") == true)
    }
}

import Delivery
import JSON

/// The members of a command that describe its action.
struct FleetActionMembers: Sendable {
    private enum Word: String, CaseIterable {
        case report
        case describe
        case probe
        case pause
        case resume
    }

    private(set) var name = ""
    private var seconds = ActionDetail<Int>.missing
    private var scope = ActionDetail<ProbeScope>.missing

    static let codec = ObjectCodec(
        "a command", from: Self(), ignoresUnknown: true,
        [
            .required("action", \.name, .printable(bytesMax: FleetLimits.actionBytesMax)),
            .member(
                "seconds", \.seconds, ActionDetail.codec(.int(0...FleetLimits.reportSecondsMax)), omitting: .missing),
            .member("scope", \.scope, ActionDetail.codec(.scope), omitting: .missing),
        ])

    private init() {}

    init(_ action: FleetCommand.Action) {
        switch action {
        case .report(let seconds): (name, self.seconds) = (Word.report.rawValue, .value(seconds))
        case .describe: name = Word.describe.rawValue
        case .probe(let scope): (name, self.scope) = (Word.probe.rawValue, .value(scope))
        case .pause(let scope): (name, self.scope) = (Word.pause.rawValue, .value(.part(scope)))
        case .resume(let scope): (name, self.scope) = (Word.resume.rawValue, .value(.part(scope)))
        case .unsupported(let name): self.name = name
        }
    }

    /// Returns the action.
    ///
    /// - Throws: if a member of the action is missing or invalid.
    func action(_ members: ObjectMembers) throws(InputError) -> FleetCommand.Action {
        switch Word(rawValue: name) {
        case .report: .report(seconds: try seconds.value() ?? FleetLimits.reportSecondsMax)
        case .describe: .describe
        case .probe: .probe(try scope.required("scope", members))
        case .pause: .pause(try pausedScope(members))
        case .resume: .resume(try pausedScope(members))
        case nil: .unsupported(name)
        }
    }

    private func pausedScope(_ members: ObjectMembers) throws(InputError) -> PauseScope {
        guard case .part(let scope) = try scope.required("scope", members) else {
            throw members.error("scope", "cannot be paused")
        }
        return scope
    }
}

/// A member that only some actions have. An action of a later version may give the member another form. An invalid
/// value is therefore an error only for an action that has the member.
private enum ActionDetail<Value: Sendable & Hashable>: Sendable, Hashable {
    case missing
    case invalid(InputError)
    case value(Value)

    static func codec(_ codec: ValueCodec<Value>) -> ValueCodec<Self> {
        ValueCodec<Self>(
            codec.form,
            reader: { json, name throws(InputError) in
                do throws(InputError) {
                    return .value(try codec.read(json, name))
                } catch {
                    return .invalid(error)
                }
            },
            writer: { detail, json in
                if case .value(let value) = detail { codec.write(value, to: &json) } else { json.null() }
            })
    }

    func value() throws(InputError) -> Value? {
        switch self {
        case .missing: return nil
        case .invalid(let error): throw error
        case .value(let value): return value
        }
    }

    func required(_ name: String, _ members: ObjectMembers) throws(InputError) -> Value {
        guard let value = try value() else { throw members.error(name, "is required for this action") }
        return value
    }
}

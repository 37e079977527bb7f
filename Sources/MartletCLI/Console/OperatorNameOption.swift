import CommandKit
import ControlProtocol
import Text

extension OptionSyntax {
    /// The option for the name of an operator.
    ///
    /// - Parameter fallback: the name without the option, for the help; nil if the option is required.
    static func operatorName(default fallback: String?) -> OptionSyntax {
        let help = "name of the operator in the audit"
        return OptionSyntax(
            name: "name", value: "NAME", help: fallback.map { "\(help) (default: \($0))" } ?? help,
            isRequired: fallback == nil)
    }
}

extension ParsedArguments {
    /// Returns the name of an operator that `--name` contains; nil without the option.
    ///
    /// - Throws: if an audit record cannot contain the name.
    func operatorName() throws(UsageError) -> String? {
        guard let name = options["name"] else { return nil }
        guard 1...FleetLimits.byBytesMax ~= name.utf8.count, name.printable == name else {
            throw UsageError("--name requires 1 to \(FleetLimits.byBytesMax) bytes without control characters")
        }
        return name
    }
}

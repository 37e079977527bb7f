import Crypto
import Registrations

extension RegistrationRules {
    /// Applies commands to a store in memory. The rules get only the rows and marks that the commands concern, as they
    /// do from the stores of workers.
    func apply(
        _ commands: [KeyedCommand], toStoreOf rows: [Registration.Key: Registration], marks: [UUIDValue: EndMark]
    ) -> Change {
        let touched = TouchedKeys(commands)
        return apply(
            commands, to: rows.values.filter { touched.contain($0) },
            marks: marks.values.filter { touched.marks.contains($0.key) })
    }
}
